"""The runs and studies that claims are tested on, and which of them are missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.config import Experiment, Scenario
from pausefl.studies.settings import Studies
from pausefl.tables import collect, read_summaries, runs_of, summarise

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes
    ----------
    rounds
        One row a round, in order, as `pausefl.tables.collect` gives them.
    summary
        Its row of `pausefl.tables.summarise`.
    """

    rounds: pd.DataFrame
    summary: pd.Series


@dataclass(frozen=True)
class Runs:
    """The runs of one scenario.

    Attributes
    ----------
    scenario
        Its settings.
    seeds
        Seeds by selector that the experiment table has, run or not.
    found
        Finished runs by selector and seed.
    """

    scenario: Scenario
    seeds: Mapping[str, tuple[int, ...]]
    found: Mapping[tuple[str, int], Run]


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
    _runs: dict[str, Runs] = field(default_factory=dict)

    def runs(self, name: str) -> Runs | None:
        """The runs of a scenario; None if it is not in the experiment table.

        Raises
        ------
        PauseflError
            If a run that is there cannot be used.
        """
        if name not in self.scenarios:
            return None
        if name not in self._runs:
            self._runs[name] = self._read(name)
        return self._runs[name]

    def study(self, name: str, file: str) -> pd.DataFrame | None:
        """A table of a study; None if it is not configured, or `missing`."""
        if name not in self.studies.names():
            return None
        path = self.results / "studies" / name / file
        if not path.is_file():
            self.missing.add(f"study {name}: {file}")
            return None
        return pd.read_csv(path)

    def _read(self, name: str) -> Runs:
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
        found = {}
        if there:
            rounds = collect(there)
            table = summarise(rounds, read_summaries(there))
            rows_of = {(row["selector"], row["seed"]): row for _, row in table.iterrows()}
            found = {
                (selector, seed): Run(run, rows_of[selector, seed]) for selector, seed, run in runs_of(rounds)
            }
        return Runs(self.scenarios[name], seeds, found)
