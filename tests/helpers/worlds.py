"""Runs and studies on disk whose verdicts one can tell beforehand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.reproduction.claims.base import ClaimTest
from pausefl.reproduction.claims.load import KINDS, Claim
from pausefl.reproduction.claims.records import Records
from pausefl.reproduction.studies import Studies, Study
from pausefl.reproduction.studies.regret import Regret
from pausefl.reproduction.studies.selection import Selection
from pausefl.runs.collected import run_folder
from pausefl.runs.run import joined
from pausefl.runs.run_id import RunId
from pausefl.settings import Scenario

SCALE = "demo"


def untrained(n: int, round_s: float = 1.0, leakage: float = 2.0) -> pd.DataFrame:
    """Rounds of one length without training; the leakage rises evenly to ``leakage``."""
    return pd.DataFrame(
        {
            "round": range(1, n + 1),
            "selection": [[0, 1]] * n,
            "latency_s": [round_s] * n,
            "elapsed_s": round_s * np.arange(1, n + 1),
            "leakage_max": leakage * np.arange(1, n + 1) / n,
            "leakage_mean": [leakage / 2] * n,
            "reward": [1.0] * n,
            "pseudo_regret": [None] * n,
        }
    )


def trained(
    accuracy: Sequence[float],
    loss: float | Sequence[float] = 1.0,
    round_s: float = 1.0,
    leakage: float = 2.0,
) -> pd.DataFrame:
    """Rounds of one length with these scores."""
    return untrained(len(accuracy), round_s, leakage).assign(train_loss=1.0, accuracy=accuracy, loss=loss)


def write_files(folder: Path, rounds: pd.DataFrame, **summary: Any) -> Path:
    """Write rounds, a ledger and a summary to a folder; ``summary`` replaces values of one by ``pause``."""
    folder.mkdir(parents=True, exist_ok=True)
    rounds.to_parquet(folder / "rounds.parquet")
    ledger = {"user": [0, 1], "participations": [1, 1], "epsilon_coordinate": [1.0, 1.0]}
    pd.DataFrame(ledger).to_parquet(folder / "ledger.parquet")
    document = {
        "scenario": {"name": "s"},
        "selector": "pause",
        "seed": 0,
        "n_rounds": len(rounds),
        "trained": "accuracy" in rounds,
        "timings_s": {"selection": 0.1, "total": 1.0},
        "peak_memory_bytes": 1_000_000,
        "diverged_round": None,
    }
    (folder / "summary.json").write_text(json.dumps(document | summary), encoding="utf-8")
    return folder


def write_run(root: Path, run: RunId, rounds: pd.DataFrame, **summary: Any) -> Path:
    """Write a run below ``root`` as a job does."""
    own = {"scenario": {"name": run.scenario}, "selector": run.selector, "seed": run.seed}
    return write_files(run_folder(root, run), rounds, **own | summary)


class World:
    """Scenarios, an experiment table and what was run of it.

    Parameters
    ----------
    folder
        The results are written here.
    base
        Scenario that all scenarios of the world are copies of, under other names.
    """

    def __init__(self, folder: Path, base: Scenario) -> None:
        self.folder, self.base = folder, base
        self.scenarios: dict[str, Scenario] = {}
        self.experiments: list[RunId] = []
        self.studies: dict[str, Study] = {}
        self.simulated: list[pd.DataFrame] = []

    def plan(self, selector: str, seed: int, scenario: str = "s") -> RunId:
        """Put a run into the experiment table."""
        self.scenarios.setdefault(scenario, self.base.replace(name=scenario))
        experiment = RunId(scenario, selector, seed)
        self.experiments.append(experiment)
        return experiment

    def write(self, experiment: RunId, rounds: pd.DataFrame) -> None:
        """Write a run as a job does."""
        write_run(self.folder / "runs", experiment, rounds)

    def add(
        self,
        selector: str,
        seed: int,
        accuracy: Sequence[float] = (0.5,) * 20,
        *,
        scenario: str = "s",
        round_s: float = 1.0,
        leakage: float = 2.0,
        loss: float | Sequence[float] = 1.0,
    ) -> None:
        """Plan and write a run with rounds of one length."""
        rounds = trained(accuracy, loss, round_s, leakage)
        self.write(self.plan(selector, seed, scenario), rounds)

    def simulate(self, selector: str, seed: int, *, round_s: float = 1.0, leakage: float = 2.0) -> None:
        """Write a run of the selection study of the scenario ``s``."""
        rounds = untrained(20, round_s, leakage)
        self.simulated.append(joined([(RunId("s", selector, seed), rounds)]))
        folder = self.folder / "studies" / "selection_s"
        folder.mkdir(parents=True, exist_ok=True)
        pd.concat(self.simulated).to_parquet(folder / "rounds.parquet")

    def study(self, name: str, settings: Study | None = None, **tables: pd.DataFrame) -> None:
        """Configure a study, of regret unless settings are given, and write tables of it."""
        if settings is None:
            scenario = self.base.replace(selectors=("pause",))
            settings = Regret(title=name, scenario=scenario, seeds=(0,), n_rounds=100)
        self.studies[name] = settings
        folder = self.folder / "studies" / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, table in tables.items():
            if file == "runs":
                table.to_parquet(folder / f"{file}.parquet", index=False)
            else:
                table.to_csv(folder / f"{file}.csv", index=False)

    def records(self) -> Records:
        """What claims are tested on."""
        studies = Studies(self.studies)
        if self.simulated:
            names = dict.fromkeys(str(rounds["selector"].iloc[0]) for rounds in self.simulated)
            seeds = dict.fromkeys(int(rounds["seed"].iloc[0]) for rounds in self.simulated)
            scenario = self.base.replace(name="s", selectors=tuple(names))
            studies["selection_s"] = Selection(title="Simulated", scenario=scenario, seeds=tuple(seeds))
        return Records(
            self.scenarios, self.experiments, studies, self.folder / "runs", self.folder / "studies"
        )


def claim(*tests: ClaimTest) -> Claim:
    return Claim(id="C0", sentence="something is so", place="somewhere", tests=tests)


def on_runs(kind: str, **keys: Any) -> ClaimTest:
    """A test on the scenario ``s``."""
    return KINDS[kind](kind=kind, scenarios={SCALE: ("s",)}, **keys)


def on_study(kind: str, **keys: Any) -> ClaimTest:
    """A test on the study ``study``."""
    return KINDS[kind](kind=kind, studies={SCALE: ("study",)}, **keys)
