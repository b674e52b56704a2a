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
from pausefl.results.published import RunFiles
from pausefl.results.runs import as_collected, read_run
from pausefl.settings import SHIPPED, Experiment, Scenario, home, load_scenario
from pausefl.settings.changes import flattened, replaced
from pausefl.settings.scenario import as_of_today, scenario_of_job

#: What stands for the scenario of runs of several ones.
OWN = "own"


@dataclass(frozen=True)
class Finished:
    """A finished run, and what it is called in messages: its folder, if it has one."""

    name: str
    summary: Mapping[str, Any]
    rounds: pd.DataFrame

    @staticmethod
    def read(folder: Path) -> Finished:
        """A run by its folder, or by the name of a published one.

        `PauseflError` if it is neither, or what `pausefl.results.runs.read_run` finds wrong.
        """
        if not RunFiles.of(folder).there():
            raise PauseflError(f"{folder} is not a finished run: it has no summary.json")
        return Finished(str(folder), *read_run(folder))

    @property
    def selector(self) -> str:
        """Name of its selector."""
        return str(self.summary["selector"])

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self.summary["seed"])

    @property
    def place(self) -> str:
        """The folder that has the folders of its seeds, where they are called ``seed-N``; else its own."""
        path = Path(self.name)
        return str(path.parent if path.name == f"seed-{self.seed}" else path)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What was run, apart from selector and seed, by dotted key."""
        made_with = as_of_today(self.summary["scenario"])
        more = {"data": self.summary.get("dataset_origin"), "rounds": self.summary["n_rounds"]}
        return flattened(made_with) | more


@dataclass(frozen=True)
class Group:
    """Runs of one selector with the same settings, in the order of their seeds."""

    runs: Sequence[Finished]
    #: What sets it apart from other groups of its selector; empty if nothing needs to.
    apart: str = ""

    @property
    def selector(self) -> str:
        """Name of its selector."""
        return self.runs[0].selector

    @property
    def label(self) -> str:
        """What people call it: the selector, and what sets it apart."""
        return ", ".join(
            filter(None, [LABELS.get(self.selector) or spare_look(self.selector, 0).label, self.apart])
        )

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


def grouped(runs: Iterable[Finished]) -> list[Group]:
    """The groups of some runs, in the order of their first runs.

    Groups of different settings say in which they differ: by the names of their scenarios, and by what
    differs between groups of one name. Runs of the same selector, settings and seed are told apart by their
    folders.

    Raises
    ------
    PauseflError
        If two of these have no folders that tell them apart.
    """
    alike: dict[tuple[Any, ...], list[Finished]] = {}
    for run in runs:
        key = run.selector, tuple(sorted((key, str(value)) for key, value in run.settings.items()))
        alike.setdefault(key, []).append(run)
    parts: list[tuple[str, list[Finished]]] = []
    for own in alike.values():
        by_place: dict[str, list[Finished]] = {}
        told_apart = _repeated(own) is not None
        for run in own:
            by_place.setdefault(run.place if told_apart else "", []).append(run)
        for found in by_place.values():
            if (again := _repeated(found)) is not None:
                names = " and ".join(run.name for run in found if run.seed == again)
                raise PauseflError(
                    f"{names} are the same run: selector {own[0].selector}, seed {again}, the same settings."
                    " Name one of them"
                )
        parts += by_place.items()
    words = _apart([own[0].settings for _, own in parts])
    return [
        Group(sorted(own, key=lambda run: run.seed), ", ".join(filter(None, [said, place])))
        for said, (place, own) in zip(words, parts, strict=True)
    ]


def _repeated(runs: Iterable[Finished]) -> int | None:
    """A seed that several runs have; None if there is none."""
    seeds = [run.seed for run in runs]
    return next((seed for seed in seeds if seeds.count(seed) > 1), None)


def _apart(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """What sets each of some settings apart from the others, in words."""
    names = [str(own["name"]) for own in settings]
    words = []
    for name, own in zip(names, settings, strict=True):
        parts = [name] if len(set(names)) > 1 else []
        others = [other for other in settings if other["name"] == name]
        parts += [
            f"{_short(key)}\u00a0=\u00a0{_shown(own.get(key))}"
            for key in dict.fromkeys(key for other in others for key in other)
            if len({str(other.get(key)) for other in others}) > 1 and not _follows(key, others)
        ]
        words.append(", ".join(parts))
    return words


def _follows(key: str, settings: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the number of rounds is what the settings say, so that it need not be told twice."""
    return key == "rounds" and all(own["rounds"] == own.get("training.n_rounds") for own in settings)


def _shown(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _short(key: str) -> str:
    """A dotted key in one word: ``n_users``, and ``reward`` for ``reward.name``."""
    return key.removesuffix(".name").rpartition(".")[2]


def names_of(groups: Sequence[Group]) -> list[str]:
    """A name for each group, as a selector's: its selector's own, unless another group has that one."""
    names: list[str] = []
    for group in groups:
        name = group.selector
        names.append(name if not group.apart and name not in names else f"{name} {len(names) + 1}")
    return names


def collected(groups: Sequence[Group]) -> pd.DataFrame:
    """The rounds of groups as `pausefl.results.runs.collect` returns them, with `names_of` as selectors."""
    frames = [
        as_collected(run.rounds, Experiment(OWN, name, run.seed))
        for name, group in zip(names_of(groups), groups, strict=True)
        for run in group.runs
    ]
    return pd.concat(frames, ignore_index=True)
