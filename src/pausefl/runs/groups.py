"""Finished runs of any scenarios, selectors and seeds: which are seeds of one thing, and how to call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.errors import ConfigError, PauseflError
from pausefl.registry.selectors import LABELS, spare_look
from pausefl.runs.run import Run, joined
from pausefl.settings import SHIPPED, Experiment, Scenario, home, load_scenario
from pausefl.settings.changes import replaced
from pausefl.settings.scenario import as_of_today, scenario_of_job

#: What stands for the scenario of runs of several ones.
OWN = "own"


@dataclass(frozen=True)
class Group:
    """Runs of one selector with the same settings, in the order of their seeds."""

    runs: Sequence[Run]
    #: A name for it, as a selector's: its selector's own, unless another group has that one.
    name: str
    #: What sets it apart from other groups of its selector; empty if nothing needs to.
    apart: str = ""

    @property
    def selector(self) -> str:
        """Name of its selector."""
        return self.runs[0].selector

    @property
    def label(self) -> str:
        """What people call it: the selector, and what sets it apart."""
        selector = LABELS.get(self.selector) or spare_look(self.selector, 0).label
        return f"{selector}, {self.apart}" if self.apart else selector

    @cached_property
    def scenario(self) -> Scenario:
        """Its scenario: with words and scale of that name's, and what it has in place of them if it differs.

        `ConfigError` if a scenario can no longer have these settings.
        """
        own = scenario_of_job(as_of_today(self.runs[0].summary["scenario"]))
        try:
            base = load_scenario(own.name, SHIPPED, home() / SHIPPED)
        except ConfigError:
            return own
        found = replaced(base.job_settings(), own.job_settings())
        return own.model_copy(update={"changed": found, "title": base.title}) if found else base


def grouped(runs: Iterable[Run]) -> list[Group]:
    """The groups of some runs, in the order of their first runs.

    Groups of different settings say in which they differ: by the names of their scenarios, and by what
    differs between groups of one name. Runs of the same selector, settings and seed are told apart by their
    folders; `PauseflError` if these do not.
    """
    alike: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        key = run.selector, *sorted((key, str(value)) for key, value in run.settings.items())
        alike.setdefault(key, []).append(run)
    parts: list[tuple[str, list[Run]]] = []
    for own in alike.values():
        by_place: dict[str, list[Run]] = {}
        for run in own:
            by_place.setdefault(_place(run) if _repeated(own) else "", []).append(run)
        parts += by_place.items()
    groups: list[Group] = []
    settings = [own[0].settings for _, own in parts]
    for place, own in parts:
        if again := _repeated(own):
            raise PauseflError(
                f"{' and '.join(run.name for run in again)} are the same run: selector {own[0].selector},"
                f" seed {again[0].seed}, the same settings. Name one of them"
            )
        apart = ", ".join(filter(None, [_difference(own[0].settings, settings), place]))
        name = own[0].selector
        taken = apart or name in (group.name for group in groups)
        own.sort(key=lambda run: run.seed)
        groups.append(Group(own, f"{name} {len(groups) + 1}" if taken else name, apart))
    return groups


def _place(run: Run) -> str:
    """The folder that has the folders of its seeds, where they are called ``seed-N``; else its own name."""
    path = Path(run.name)
    return str(path.parent if path.name == f"seed-{run.seed}" else path)


def _repeated(runs: Sequence[Run]) -> list[Run]:
    """The runs of the first seed that several have; none if there is none."""
    seeds = [run.seed for run in runs]
    again = next((seed for seed in seeds if seeds.count(seed) > 1), None)
    return [run for run in runs if run.seed == again]


def _difference(own: Mapping[str, Any], settings: Sequence[Mapping[str, Any]]) -> str:
    """What sets settings apart from others, in words: ``n_users = 20, reward = r2``."""
    others = [other for other in settings if other["name"] == own["name"]]
    parts = [str(own["name"])] if len(others) < len(settings) else []
    for key in dict.fromkeys(key for other in others for key in other):
        if key == "rounds" and all(other[key] == other.get("training.n_rounds") for other in others):
            continue  # the settings say it
        if len({str(other.get(key)) for other in others}) > 1:
            value = own.get(key)
            words = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
            parts.append(f"{key.removesuffix('.name').rpartition('.')[2]}\u00a0=\u00a0{words}")
    return ", ".join(parts)


def rounds_of_groups(groups: Iterable[Group]) -> pd.DataFrame:
    """The rounds of groups as `pausefl.runs.run.rounds_of` returns them, with their names as selectors."""
    return joined({Experiment(OWN, one.name, run.seed): run.rounds for one in groups for run in one.runs})
