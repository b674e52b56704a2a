"""The runs and studies that claims are tested on, and which of them are missing.

Claims about selection alone need no training: if a scenario has no finished run, the runs of a selection
study of that scenario are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.results.outcomes import outcomes
from pausefl.results.reading import read_table
from pausefl.results.runs import collect, runs_of
from pausefl.settings import Experiment, Scenario
from pausefl.settings.studies import Studies


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes
    ----------
    name
        Its folder below that of all runs, or of all studies.
    rounds
        One row a round, in order, as `pausefl.results.runs.collect` returns them.
    outcome
        As `pausefl.results.outcomes.outcomes` returns it.
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
        Seeds by selector in the experiment table or the study, finished or not.
    found
        Finished runs by selector and seed.
    note
        What a reader should know of them.
    """

    scenario: Scenario
    seeds: Mapping[str, tuple[int, ...]]
    found: Mapping[tuple[str, int], Run]
    note: str = ""


def run_name(scenario: str, selector: str, seed: int) -> str:
    """Folder of a run below that of all runs."""
    return f"{scenario}/{selector}/seed-{seed}"


def is_trained(run: Run) -> bool:
    """Whether the run was evaluated on test data."""
    return bool(run.rounds["loss"].notna().any())


@dataclass
class Records:
    """Runs and studies of a configuration, read on demand.

    Attributes
    ----------
    scenarios, experiments, studies
        The configuration.
    results
        Folder with ``runs`` and ``studies``.
    missing
        Names of runs and files of studies that were asked for and do not exist.
    """

    scenarios: Mapping[str, Scenario]
    experiments: Iterable[Experiment]
    studies: Studies
    results: Path
    missing: set[str] = field(default_factory=set)
    _runs: dict[str, Runs | None] = field(default_factory=dict)

    def runs(self, name: str) -> Runs | None:
        """The runs of a scenario; None if neither the experiment table nor a selection study has it.

        Raises
        ------
        PauseflError
            If a finished run cannot be used.
        """
        if name not in self._runs:
            trained = self._trained(name) if name in self.scenarios else None
            simulated = None if trained is not None and trained.found else self._simulated(name)
            self._runs[name] = simulated or trained
        return self._runs[name]

    def study(self, name: str, file: str) -> pd.DataFrame | None:
        """A table of a study; None if it is not configured or `missing`."""
        if name not in self.studies.names():
            return None
        path = self._folder(name) / file
        if not path.is_file():
            self.missing.add(f"study {name}: {file}")
            return None
        return read_table(path)

    def _folder(self, study: str) -> Path:
        return self.results / "studies" / study

    def _simulated(self, name: str) -> Runs | None:
        study, file = self.studies.simulation_of(name), "rounds.parquet"
        if study is None or (name in self.scenarios and not (self._folder(study) / file).is_file()):
            return None  # the missing results are the runs
        rounds = self.study(study, file)
        if rounds is None:
            return None
        settings = self.studies.selection[study]
        seeds = dict.fromkeys(settings.scenario.selectors, settings.seeds)
        return Runs(settings.scenario, seeds, _found(rounds, study), "selection alone")

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
    """Runs of a table of rounds, by selector and seed; their names begin with ``place``."""
    outcome = {(run.selector, run.seed): values for run, values in outcomes(rounds).items()}
    return {
        (selector, seed): Run(run_name(place, selector, seed), run, outcome[selector, seed])
        for selector, seed, run in runs_of(rounds)
    }
