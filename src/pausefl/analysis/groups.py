"""Finished runs of any scenarios, selectors and seeds: which are seeds of one thing, and how to call them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from pausefl.errors import ConfigError, PauseflError
from pausefl.runs.run import Run, selector_version, with_all_columns
from pausefl.runs.run_id import RunId
from pausefl.selectors import LABELS
from pausefl.selectors.settings import CONSTANT_KEYS
from pausefl.settings import SHIPPED, Scenario, home, load_scenario
from pausefl.settings.dotted_keys import replaced
from pausefl.settings.scenario import scenario_of_run


class Line(NamedTuple):
    """What all seeds of a run share."""

    selector: str
    settings: str
    #: Of a selector that was handed over, `selector_version`.
    version: str | None


@dataclass(frozen=True)
class Group:
    """Runs of one version of a selector with the same settings, in the order of their seeds."""

    runs: Sequence[Run]
    #: A name for it, as a selector's: its selector's own if nothing is in its label beside it.
    name: str
    #: What people call it: the selector, and in what it differs from other groups.
    label: str

    @property
    def selector(self) -> str:
        """Name of its selector."""
        return self.runs[0].selector

    @cached_property
    def scenario(self) -> Scenario:
        """Its scenario: that of its name, or, with other settings, what it has in place of them.

        `ConfigError` if a scenario can no longer have these settings.
        """
        own = scenario_of_run(self.runs[0].summary)
        try:
            base = load_scenario(own.name, SHIPPED, home() / SHIPPED)
        except ConfigError:
            return own
        found = replaced(base.job_settings(self.selector), own.job_settings(self.selector))
        changed = {"name": f"{own.name}, changed", "changed": found, "title": base.title}
        return own.model_copy(update=changed) if found else base


def grouped(runs: Iterable[Run]) -> list[Group]:
    """The groups of some runs, in the order of their first runs.

    Groups of different settings say in which they differ: by the names of their scenarios, and by what
    differs between groups of one name; versions of a selector that was handed over by digests of their
    source. Runs of the same selector, settings and seed are told apart by their folders; `PauseflError` if
    these do not.
    """
    lines = [(run, _line(run)) for run in runs]
    repeated = {line for (line, _), n in Counter((line, run.seed) for run, line in lines).items() if n > 1}
    parts: dict[tuple[Line, str], list[Run]] = {}
    for run, line in lines:
        parts.setdefault((line, _folder(run) if line in repeated else ""), []).append(run)
    settings, groups = [part[0].settings for part in parts.values()], list[Group]()
    for (line, folder), part in parts.items():
        part.sort(key=lambda run: run.seed)
        for run, other in pairwise(part):
            if run.seed == other.seed:
                raise PauseflError(
                    f"{run.name} and {other.name} are the same run: selector {run.selector}, seed"
                    f" {run.seed}, the same settings. Name one of them, or give one of two selectors a name"
                )
        name = part[0].selector
        label = LABELS.get(name) or _in_words(name)
        versions = {other.version for other, _ in parts if other.selector == line.selector}
        version = f"source {line.version or 'unknown'}" if len(versions) > 1 else ""
        if differs := [*_differences(part[0].settings, settings), *filter(None, [version, folder])]:
            name, label = f"{name} {len(groups) + 1}", ", ".join([label, *differs])
        groups.append(Group(part, name, label))
    return groups


def named_runs(groups: Iterable[Group]) -> dict[RunId, Run]:
    """Runs by their scenario, the name of their group in place of their selector's, and their seed."""
    return {RunId(run.scenario, one.name, run.seed): run for one in groups for run in one.runs}


def rounds_of_groups(groups: Iterable[Group]) -> dict[RunId, pd.DataFrame]:
    """The rounds of groups as `pausefl.runs.run.rounds_of` returns them, with their names as selectors."""
    return {name: with_all_columns(run.rounds) for name, run in named_runs(groups).items()}


def _in_words(selector: str) -> str:
    """What to call a selector whose code is not at hand: the class of ``MODULE:CLASS``."""
    return selector.rpartition(":")[2] if ":" in selector else selector.replace("_", " ").capitalize()


def _line(run: Run) -> Line:
    settings = sorted((key, str(value)) for key, value in run.settings.items() if value is not None)
    return Line(run.selector, str(settings), selector_version(run))


def _folder(run: Run) -> str:
    """The folder that has the folders of its seeds, where they are called ``seed-N``; else its own name."""
    path = Path(run.name)
    return str(path.parent if path.name == f"seed-{run.seed}" else path)


def _differences(settings: Mapping[str, Any], of_all: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield each thing that sets settings apart from others, in words: ``n_users = 20``, ``reward = r2``."""
    others = [other for other in of_all if other["name"] == settings["name"]]
    if len(others) < len(of_all):
        yield str(settings["name"])
    for key in dict.fromkeys(key for other in others for key in other):
        compared = [other for other in others if key in other] if key in CONSTANT_KEYS else others
        if settings in compared and len({str(other.get(key)) for other in compared}) > 1:
            value = settings.get(key)
            words = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
            yield f"{key.removesuffix('.name').rpartition('.')[2]}\u00a0=\u00a0{words}"
