"""The runs and studies that claims are tested on, and which of them are missing.

Claims about selection alone need no training: where a run is not finished, that of a selection study of the
same scenario, selector and seed stands in. Selections, times and leakage are the same.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.latency import expected_latencies
from pausefl.results.authors_archive import logged_rounds
from pausefl.results.outcomes import outcomes
from pausefl.runs.collected import exists, read_runs, run_folder
from pausefl.runs.reading import read_table
from pausefl.runs.run import rounds_of, runs_of
from pausefl.settings import Experiment, NetworkSettings, Scenario
from pausefl.settings.scenario import scenario_of_job
from pausefl.studies import Studies, study_of

if TYPE_CHECKING:
    from pausefl.claims.load import Alternative

#: SA-PAUSE as printed, and the annealers of the authors' logs.
ANNEALERS = ("sa_pause", "sa_pause_v1", "sa_pause_best_gain")


@dataclass(frozen=True)
class Replicate:
    """One finished run, under one seed."""

    name: str
    """Scenario or study, selector and seed: ``demo_small/pause/seed-0``."""
    rounds: pd.DataFrame
    """One row a round, in order, as `pausefl.runs.run.rounds_of` returns them."""
    outcome: Mapping[str, Any]
    """Numbers of the run, as `pausefl.results.outcomes.outcomes` returns them."""
    network: NetworkSettings | None = None
    """Of its scenario; None where nobody asks for `expected_s`."""

    @cached_property
    def expected_s(self) -> NDArray[np.float64]:
        """Expected latencies of the users (K,) in simulated seconds; `ConfigError` if the law has none."""
        assert self.network is not None
        return expected_latencies(self.network)

    @cached_property
    def is_trained(self) -> bool:
        """Whether it was evaluated on test data."""
        return bool(self.rounds["loss"].notna().any())

    @property
    def leakage(self) -> NDArray[np.float64]:
        """Largest leakage of any user (n,) after each round, as the ledger has it."""
        return self.rounds["leakage_max"].to_numpy(np.float64)

    def digest(self, trained: bool, timed: bool) -> str:
        """Hash of who was selected in each round, and of accuracies, losses and times where they count."""
        rows = [np.asarray(row, np.int64) for row in self.rounds["selection"]]
        found = hashlib.sha256(np.concatenate([[len(row) for row in rows], *rows]).tobytes())
        columns = [*(["accuracy", "loss"] if trained else []), *(["elapsed_s"] if timed else [])]
        found.update(self.rounds[columns].to_numpy(np.float64).tobytes())
        return found.hexdigest()


#: Runs of a scenario by selector and seed; None for one that was planned and is not finished.
Runs = Mapping[tuple[str, int], Replicate | None]


@dataclass
class Records:
    """Runs and studies of a configuration, read on demand."""

    scenarios: Mapping[str, Scenario]
    experiments: Iterable[Experiment]
    studies: Studies
    runs_folder: Path
    """Folder with the collected, or published, runs of each scenario."""
    studies_folder: Path
    """Folder with the computed tables of each study."""
    logs: Mapping[str, Scenario] = field(default_factory=dict)
    """Scenarios as run that claims are tested on, in the configuration or not."""
    n_runs: int = 0
    """Number of runs of the experiment table that were asked for and exist."""
    missing: set[str] = field(default_factory=set)
    """Names of runs, and of tables of studies, that were asked for and do not exist."""

    @staticmethod
    def of(tested: Mapping[str, Any], runs_folder: Path, studies_folder: Path) -> Records:
        """Records of plain values, as `pausefl.workflow.report_parts.tested_on` returns them."""
        return Records(
            {name: scenario_of_job(settings) for name, settings in tested["scenarios"].items()},
            tested["jobs"],
            Studies({name: study_of(*study) for name, study in tested["studies"].items()}),
            runs_folder,
            studies_folder,
            {name: Scenario.read(settings, "scenario") for name, settings in tested["logs"].items()},
        )

    #: Scenarios that are read in place of others, by selector and scenario.
    _others: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def instead(self, other: Alternative) -> Records:
        """The same records with the runs of one selector from other scenarios."""
        changed = copy.copy(self)  # which reads no file twice
        changed._others = {(other.selector, place): name for place, name in other.scenarios.items()}
        return changed

    def __post_init__(self) -> None:
        """Read each scenario once."""
        self._jobs, self._study, self._log = map(cache, (self._read_jobs, self._read_study, self._read_log))

    def runs(self, scenario: str, selector: str, trained: bool) -> dict[int, Replicate | None]:
        """The runs of a selector in the experiment table by seed; None for one that is not finished.

        If they need not be ``trained``, those of the scenario's selection study stand in for these.
        `PauseflError` if a finished run cannot be used.
        """
        scenario = self._others.get((selector, scenario), scenario)
        jobs, study = self._jobs(scenario), {} if trained else self._study(scenario)
        runs = {key: jobs.get(key) or study.get(key) for key in {**jobs, **study}}
        return {
            seed: run if run and (run.is_trained or not trained) else None
            for (name, seed), run in runs.items()
            if name == selector
        }

    def log(self, scenario: str, selector: str) -> Replicate | None:
        """The authors' run of a selector in a scenario as run; None where no log of theirs is known."""
        return next((run for (name, _), run in self._log(scenario).items() if name == selector), None)

    def acting(self, scenario: str, selectors: Iterable[str]) -> list[str]:
        """Who stands for some selectors in a scenario: where it is as run, only those that it lists.

        The annealer that it lists stands for SA-PAUSE.
        """
        if scenario not in self.logs:
            return list(selectors)
        there = self.logs[scenario].selectors
        annealers = [name for name in there if name in ANNEALERS]
        named = [one for name in selectors for one in (annealers if name == ANNEALERS[0] else [name])]
        return [name for name in named if name in there]

    def study(self, name: str, file: str) -> pd.DataFrame | None:
        """A table of a study; None if it is not configured or `missing`."""
        if name not in self.studies:
            return None
        path = self.studies_folder / name / file
        if not path.is_file():
            self.missing.add(f"study {name}: {file}")
            return None
        return read_table(path)

    def rows(self, study: str, file: str, selector: str) -> pd.DataFrame:
        """Rows of a selector in a table of a study; none if the table is not configured or `missing`."""
        table = self.study(study, file)
        return pd.DataFrame() if table is None else table[table["selector"] == selector]

    def _read_jobs(self, name: str) -> Runs:
        """The runs of a scenario in the experiment table."""
        if name not in self.scenarios:
            return {}
        jobs = [job for job in self.experiments if job.scenario == name]
        folders = {job: run_folder(self.runs_folder, job) for job in jobs}
        there = {job: folder for job, folder in folders.items() if exists(folder)}
        self.n_runs += len(there)
        self.missing.update(_name(*astuple(job)) for job in jobs if job not in there)
        planned: dict[tuple[str, int], Replicate | None] = {(job.selector, job.seed): None for job in jobs}
        if not there:
            return planned
        return planned | replicates(rounds_of(read_runs(there).values()), name, self.scenarios[name].network)

    def _read_study(self, name: str) -> Runs:
        """The runs of the selection study of a scenario; none where the runs are missing."""
        study, file = self.studies.simulation_of(name), "rounds.parquet"
        if study is None or (name in self.scenarios and not (self.studies_folder / study / file).is_file()):
            return {}
        if (rounds := self.study(study, file)) is None:
            return {}
        settings = self.studies.of_kind("selection")[study]
        planned = dict.fromkeys(product(settings.scenario.selectors, settings.seeds))
        return planned | replicates(rounds, study, settings.scenario.network)

    def _read_log(self, name: str) -> Runs:
        """The authors' runs of a scenario as run; none of other scenarios."""
        scenario = self.logs.get(name)
        return {} if scenario is None else replicates(logged_rounds(scenario), name, scenario.network)


def _name(*run: str | int) -> str:
    """A run in messages: scenario, selector, seed."""
    return "{}/{}/seed-{}".format(*run)


def replicates(
    rounds: pd.DataFrame, place: str = "", network: NetworkSettings | None = None
) -> dict[tuple[str, int], Replicate]:
    """The runs of a table of rounds by selector and seed; their names begin with ``place``."""
    outcome = {(run.selector, run.seed): values for run, values in outcomes(rounds).items()}
    return {
        (selector, seed): Replicate(_name(place, selector, seed), run, outcome[selector, seed], network)
        for selector, seed, run in runs_of(rounds)
    }
