"""The runs and studies that claims are tested on, and which of them are missing.

Claims about selection alone need no training: where a run is not finished, that of a selection study of the
same scenario, selector and seed stands in. Selections, times and leakage are the same.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.analysis.trajectories import Trajectory, name_of, trajectories
from pausefl.reproduction.authors_archive import logged_rounds, logged_target
from pausefl.reproduction.studies import Studies, study_of
from pausefl.runs.collected import exists, read_runs, run_folder
from pausefl.runs.reading import read_table
from pausefl.runs.run import rounds_of, split_by_run
from pausefl.runs.run_id import RunId
from pausefl.settings import Scenario
from pausefl.settings.scenario import scenario_of_job

#: SA-PAUSE as printed, and the annealers of the authors' logs.
ANNEALERS = ("sa_pause", "sa_pause_v1", "sa_pause_best_gain")


#: Runs of a scenario by selector and seed; None for one that was planned and is not finished.
Runs = Mapping[tuple[str, int], Trajectory | None]


@dataclass
class Records:
    """Runs and studies of a configuration, read on demand."""

    scenarios: Mapping[str, Scenario]
    experiments: Iterable[RunId]
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
        """Records of plain values, as `pausefl.reproduction.targets.report_parts.tested_on` returns them."""
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

    def instead(self, selector: str, scenarios: Mapping[str, str]) -> Records:
        """The same records with the runs of one selector from other scenarios, by those that they replace."""
        changed = copy.copy(self)  # which reads no file twice
        changed._others = {(selector, place): name for place, name in scenarios.items()}
        return changed

    def __post_init__(self) -> None:
        """Read each scenario once."""
        self._jobs, self._study, self._log = map(cache, (self._read_jobs, self._read_study, self._read_log))

    def runs(self, scenario: str, selector: str, trained: bool) -> dict[int, Trajectory | None]:
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

    def log(self, scenario: str, selector: str) -> Trajectory | None:
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
        self.missing.update(name_of(*job) for job in jobs if job not in there)
        planned: dict[tuple[str, int], Trajectory | None] = {(job.selector, job.seed): None for job in jobs}
        if not there:
            return planned
        return planned | trajectories(
            rounds_of(read_runs(there).values()), name, self.scenarios[name].network
        )

    def _read_study(self, name: str) -> Runs:
        """The runs of the selection study of a scenario; none where the runs are missing."""
        study, file = self.studies.simulation_of(name), "rounds.parquet"
        if study is None or (name in self.scenarios and not (self.studies_folder / study / file).is_file()):
            return {}
        if (rounds := self.study(study, file)) is None:
            return {}
        settings = self.studies.of_kind("selection")[study]
        planned = dict.fromkeys(product(settings.scenario.selectors, settings.seeds))
        return planned | trajectories(split_by_run(rounds), study, settings.scenario.network)

    def _read_log(self, name: str) -> Runs:
        """The authors' runs of a scenario as run; none of other scenarios."""
        scenario = self.logs.get(name)
        if scenario is None:
            return {}
        rounds = logged_rounds(scenario)
        return trajectories(rounds, name, scenario.network, logged_target(rounds))
