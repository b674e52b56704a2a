"""The runs and studies that claims are tested on, and which of them are missing.

Claims about selection alone need no training: where a run is not finished, that of a selection study of the
same scenario, selector and seed stands in. Selections, times and leakage are the same.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.latency import mean_latencies
from pausefl.results.archive import logged_rounds
from pausefl.results.outcomes import outcomes
from pausefl.runs.collected import exists, read_runs, run_folder
from pausefl.runs.reading import read_table
from pausefl.runs.run import rounds_of, runs_of
from pausefl.settings import Experiment, NetworkSettings, Scenario
from pausefl.settings.scenario import scenario_of_job
from pausefl.studies import Studies, study_of


@dataclass(frozen=True)
class Replicate:
    """One finished run, under one seed."""

    name: str
    """Scenario or study, selector and seed: ``demo_small/pause/seed-0``."""
    rounds: pd.DataFrame
    """One row a round, in order, as `pausefl.runs.run.rounds_of` returns them."""
    outcome: Mapping[str, Any]
    """Numbers of the run, as `pausefl.results.outcomes.outcomes` returns them."""
    expected_s: NDArray[np.float64]
    """(K,) expected latencies of the users, in simulated seconds."""

    @cached_property
    def is_trained(self) -> bool:
        """Whether it was evaluated on test data."""
        return bool(self.rounds["loss"].notna().any())

    @property
    def leakage(self) -> NDArray[np.float64]:
        """Largest leakage of any user (n,) after each round, as the ledger has it."""
        return self.rounds["leakage_max"].to_numpy(np.float64)

    @cached_property
    def selections(self) -> str:
        """Hash of who was selected in each round."""
        rows = [np.asarray(row, np.int64) for row in self.rounds["selection"]]
        return hashlib.sha256(np.concatenate([[len(row) for row in rows], *rows]).tobytes()).hexdigest()

    @cached_property
    def learning(self) -> str:
        """Hash of selections, accuracies and losses."""
        scores = self.rounds[["accuracy", "loss"]].to_numpy(np.float64)
        return hashlib.sha256(scores.tobytes()).hexdigest() + self.selections


@dataclass(frozen=True)
class Replicates:
    """The runs of one scenario."""

    scenario: Scenario
    seeds: Mapping[str, tuple[int, ...]]
    """Seeds by selector that were planned, finished or not."""
    found: Mapping[tuple[str, int], Replicate]
    """Finished runs by selector and seed."""


def expected_latencies(network: NetworkSettings) -> NDArray[np.float64]:
    """Expected latencies (K,) in simulated seconds: of max(tau_min, N(mean, std))."""
    std, floor = network.latency_std, network.latency_floor
    above = mean_latencies(network) - floor
    z = above / std
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    share_above = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in z])
    return np.asarray(floor + above * share_above + std * density)


@dataclass
class Records:
    """Runs and studies of a configuration, read on demand."""

    scenarios: Mapping[str, Scenario]
    experiments: Iterable[Experiment]
    studies: Studies
    runs: Path
    """Folder with the collected, or published, runs of each scenario."""
    tables: Path
    """Folder with the computed tables of each study."""
    logs: Mapping[str, Scenario] = field(default_factory=dict)
    """Scenarios as run that claims are tested on, in the configuration or not."""
    found: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    """Names of runs and files of studies that were asked for and do not exist; ``found`` has the others."""

    @staticmethod
    def of(tested: Mapping[str, Any], runs: Path, tables: Path) -> Records:
        """Records of plain values, as `pausefl.workflow.contents.tested_on` returns them."""
        return Records(
            {name: scenario_of_job(settings) for name, settings in tested["scenarios"].items()},
            tested["jobs"],
            Studies({name: study_of(*study) for name, study in tested["studies"].items()}),
            runs,
            tables,
            {name: Scenario.read(settings, "scenario") for name, settings in tested["logs"].items()},
        )

    def __post_init__(self) -> None:
        """Read each scenario once."""
        self.trained, self.selected = cache(self._trained), cache(self._selected)
        self.log = cache(self._log)

    def extent(self) -> str:
        """How much was found, and how much is missing, in words."""
        studies = {name for name in self.found if name.startswith("study ")}
        seeds = Counter(name.rpartition("/")[0] for name in self.found - studies).values()
        of = " to ".join(str(n) for n in dict.fromkeys((min(seeds), max(seeds)))) if seeds else ""
        runs = f"{sum(seeds)} runs{f' ({of} seeds of a selector)' if seeds else ''}"
        missing = f"; {len(self.missing)} missing (names: --missing)" if self.missing else ""
        return f"{runs}, {len(studies)} tables of studies{missing}"

    def _trained(self, name: str) -> Replicates | None:
        """The runs of a scenario in the experiment table; None if it has none.

        `PauseflError` if a finished run cannot be used.
        """
        if name not in self.scenarios:
            return None
        scenario, jobs = self.scenarios[name], [job for job in self.experiments if job.scenario == name]
        seeds: dict[str, tuple[int, ...]] = {}
        for job in sorted(jobs, key=lambda job: job.seed):
            seeds[job.selector] = (*seeds.get(job.selector, ()), job.seed)
        folders = {job: run_folder(self.runs, job) for job in jobs}
        there = {job: folder for job, folder in folders.items() if exists(folder)}
        for job in jobs:
            (self.found if job in there else self.missing).add(_name(*astuple(job)))
        rounds = rounds_of(read_runs(there).values()) if there else None
        return Replicates(scenario, seeds, {} if rounds is None else _found(rounds, name, scenario))

    def _selected(self, name: str) -> Replicates | None:
        """The runs that `trained` returns, and what the selection study of the scenario has beyond them."""
        table, study = self.trained(name), self._simulated(name)
        if table is None or study is None:
            return table or study
        both = {
            selector: tuple(sorted({*study.seeds.get(selector, ()), *table.seeds.get(selector, ())}))
            for selector in {**study.seeds, **table.seeds}
        }
        return Replicates(table.scenario, both, {**study.found, **table.found})

    def _simulated(self, name: str) -> Replicates | None:
        study, file = self.studies.simulation_of(name), "rounds.parquet"
        if study is None or (name in self.scenarios and not (self.tables / study / file).is_file()):
            return None  # the missing results are the runs
        if (rounds := self.study(study, file)) is None:
            return None
        settings = self.studies.of_kind("selection")[study]
        seeds = dict.fromkeys(settings.scenario.selectors, settings.seeds)
        return Replicates(settings.scenario, seeds, _found(rounds, study, settings.scenario))

    def _log(self, place: str) -> Mapping[str, Replicate]:
        """The authors' runs of a scenario as run, by selector; none of other scenarios."""
        if (scenario := self.logs.get(place)) is None:
            return {}
        return {key[0]: run for key, run in _found(logged_rounds(scenario), place, scenario).items()}

    def acting(self, place: str, selectors: Iterable[str]) -> list[str]:
        """Who stands for some selectors in a scenario: where it is as run, only those that it lists.

        The annealer that it lists stands for SA-PAUSE.
        """
        if place not in self.logs:
            return list(selectors)
        there = self.logs[place].selectors
        annealers = [name for name in there if name.startswith("sa_pause")]
        named = [one for name in selectors for one in (annealers if name == "sa_pause" else [name])]
        return [name for name in named if name in there]

    def study(self, name: str, file: str) -> pd.DataFrame | None:
        """A table of a study; None if it is not configured or `missing`."""
        if name not in self.studies:
            return None
        path = self.tables / name / file
        there = path.is_file()
        (self.found if there else self.missing).add(f"study {name}: {file}")
        return read_table(path) if there else None


def _name(*run: str | int) -> str:
    """A run in messages: scenario, selector, seed."""
    return "{}/{}/seed-{}".format(*run)


def _found(rounds: pd.DataFrame, place: str, scenario: Scenario) -> dict[tuple[str, int], Replicate]:
    """Replicates of a table of rounds, by selector and seed; their names begin with ``place``."""
    expected_s = expected_latencies(scenario.network)
    outcome = {(run.selector, run.seed): values for run, values in outcomes(rounds).items()}
    return {
        (selector, seed): Replicate(_name(place, selector, seed), run, outcome[selector, seed], expected_s)
        for selector, seed, run in runs_of(rounds)
    }
