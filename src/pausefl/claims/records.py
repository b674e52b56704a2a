"""The runs and studies that claims are tested on, and which of them are missing.

What a claim says of selection alone needs no training: where no run of a scenario is there, runs are those of
the study that plays it, if there is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.results.outcomes import outcomes
from pausefl.results.runs import collect, runs_of
from pausefl.settings import Experiment, Scenario
from pausefl.settings.studies import Studies


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes
    ----------
    name
        What it is called.
    rounds
        One row a round, in order, as `pausefl.results.runs.collect` gives them.
    outcome
        As `pausefl.results.outcomes.outcomes` gives it.
    """

    name: str
    rounds: pd.DataFrame
    outcome: Mapping[str, Any]


@dataclass(frozen=True)
class Runs:
    """The runs of one scenario.

    Attributes
    ----------
    scenario
        Its settings.
    seeds
        Seeds by selector that the experiment table, or the study, has, run or not.
    found
        Finished runs by selector and seed.
    note
        What to know of them.
    """

    scenario: Scenario
    seeds: Mapping[str, tuple[int, ...]]
    found: Mapping[tuple[str, int], Run]
    note: str = ""


def run_name(scenario: str, selector: str, seed: int) -> str:
    """What a run is called: its folder below the one of all runs."""
    return f"{scenario}/{selector}/seed-{seed}"


def is_trained(run: Run) -> bool:
    """Whether the run was evaluated on test data at all."""
    return bool(run.rounds["loss"].notna().any())


@dataclass
class Records:
    """What the experiment table and the studies are to give, read when it is asked for.

    Attributes
    ----------
    scenarios, experiments, studies
        What is configured.
    results
        Folder with ``runs`` and ``studies``.
    missing
        Names of runs, and paths of files of studies, that were asked for and are not there.
    """

    scenarios: Mapping[str, Scenario]
    experiments: Iterable[Experiment]
    studies: Studies
    results: Path
    missing: set[str] = field(default_factory=set)
    _runs: dict[str, Runs | None] = field(default_factory=dict)

    def runs(self, name: str) -> Runs | None:
        """The runs of a scenario; None if it is neither in the experiment table nor played by a study.

        Raises
        ------
        PauseflError
            If a run that is there cannot be used.
        """
        if name not in self._runs:
            trained = self._trained(name) if name in self.scenarios else None
            played = None if trained is not None and trained.found else self._played(name)
            self._runs[name] = played or trained
        return self._runs[name]

    def study(self, name: str, file: str) -> pd.DataFrame | None:
        """A table of a study; None if it is not configured, or `missing`."""
        if name not in self.studies.names():
            return None
        path = self._folder(name) / file
        if not path.is_file():
            self.missing.add(f"study {name}: {file}")
            return None
        return pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)

    def _folder(self, study: str) -> Path:
        return self.results / "studies" / study

    def _played(self, name: str) -> Runs | None:
        study, file = self.studies.played(name), "rounds.parquet"
        if study is None or (name in self.scenarios and not (self._folder(study) / file).is_file()):
            return None  # the runs are what is missing
        rounds = self.study(study, file)
        if rounds is None:
            return None
        played = self.studies.selection[study]
        seeds = dict.fromkeys(played.scenario.selectors, played.seeds)
        return Runs(played.scenario, seeds, _found(rounds, study), "selection alone")

    def _trained(self, name: str) -> Runs:
        rows = [row for row in self.experiments if row.scenario == name]
        folders = {
            row: self.results / "runs" / run_name(row.scenario, row.selector, row.seed) for row in rows
        }
        there = {row: folder for row, folder in folders.items() if (folder / "summary.json").is_file()}
        absent = [row for row in rows if row not in there]
        self.missing |= {run_name(row.scenario, row.selector, row.seed) for row in absent}
        seeds = {
            selector: tuple(sorted(row.seed for row in rows if row.selector == selector))
            for selector in dict.fromkeys(row.selector for row in rows)
        }
        return Runs(self.scenarios[name], seeds, _found(collect(there), name) if there else {})


def _found(rounds: pd.DataFrame, place: str) -> dict[tuple[str, int], Run]:
    """The runs of a table of rounds by selector and seed; ``place`` is the first part of their names."""
    outcome = {(run.selector, run.seed): values for run, values in outcomes(rounds).items()}
    return {
        (selector, seed): Run(run_name(place, selector, seed), run, outcome[selector, seed])
        for selector, seed, run in runs_of(rounds)
    }
