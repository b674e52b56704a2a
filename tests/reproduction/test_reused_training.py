"""A run made from another's training has the bytes of one that trains, or is refused."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scenarios import changed

from pausefl import hashing
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.checkpoint import STATE_FILE
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.federated.runnable import can_reuse_training
from pausefl.reproduction.reused_training import with_reused_training
from pausefl.runs.collected import read_run
from pausefl.runs.run import RUN_FILES as FILES
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario

#: Selectors of the papers' scenarios that have both rewards.
BLIND = ["random", "clustered_size", "clustered_similarity", "fastest", "fedavg", "fedavg_no_privacy"]
TABLES = ("rounds.parquet", "ledger.parquet")
R2 = {"name": "r2", "n_clusters": 4, "overlap_penalty": 0.02, "overlap_latency": 0.05}


@pytest.fixture(scope="module")
def r1(demo: Scenario) -> Scenario:
    """Evaluated after rounds 1, 2, 3, 6 and 8; users run out of budget."""
    few = {"schedule": "uniform", "decay": None, "n_participations": 3}
    return changed(demo, training={"evaluate_every": 3, "evaluate_all_until": 2}, privacy=few)


@pytest.fixture(scope="module")
def r2(r1: Scenario) -> Scenario:
    return changed(r1, reward=R2).replace(name="demo_r2")


class Runs:
    """Runs of eight rounds, and runs made from their training."""

    def __init__(self, digits: Dataset, share: Callable[..., Partition], folder: Path) -> None:
        self.digits, self.share, self.folder = digits, share, folder

    def train(self, scenario: Scenario, selector: str = "random", **values: Any) -> Path:
        job = dataclasses.replace(Job(scenario, selector, 0, 8, device="cpu"), **values)
        out = self.folder / f"{scenario.name}-{selector}"
        if not (out / "summary.json").exists():
            run_job(job, self.digits, self.share(scenario, job.seed), out)
        return out

    def retime(self, trained: Path, scenario: Scenario, selector: str = "random", **values: Any) -> Path:
        """Folder of a run made from that in ``trained``; with only an old state if the job has to train."""
        job = dataclasses.replace(Job(scenario, selector, 0, 8), **values)
        out = self.folder / f"retimed-{len(list(self.folder.iterdir()))}"
        out.mkdir()
        (out / STATE_FILE).touch()
        done = with_reused_training(job, self.digits, self.share(scenario, job.seed), trained, out)
        assert [(out / name).exists() for name in FILES] == [done] * 3
        assert (out / STATE_FILE).exists() != done
        return out


@pytest.fixture
def runs(digits: Dataset, share_out: Callable[..., Partition], tmp_path: Path) -> Runs:
    return Runs(digits, share_out, tmp_path)


def told(folder: Path, **changes: Any) -> dict[str, Any]:
    """What a run's summary says, after changing some of it."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text("utf-8")) | changes
    (folder / "summary.json").write_text(json.dumps(found))
    return found


def tables(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in TABLES]


@pytest.mark.parametrize("selector", BLIND)
def test_the_files_are_those_of_a_job_that_trains(
    runs: Runs, r1: Scenario, r2: Scenario, selector: str
) -> None:
    assert not SELECTORS[selector].uses_reward
    trained, expected = runs.train(r1, selector), runs.train(r2, selector)
    out = runs.retime(trained, r2, selector)
    assert tables(out) == tables(expected) != tables(trained)
    read_run(out)
    ours, theirs = told(out), told(expected)
    origin = ours.pop("trained_by")
    assert (origin["scenario"], origin["timings_s"]) == (r1.name, told(trained)["timings_s"])
    for summary in (ours, theirs):
        assert (summary.pop("timings_s")["training"] == 0) == (summary is ours)
        del summary["peak_memory_bytes"]
    assert ours == theirs


@pytest.mark.parametrize(
    ("selector", "changes", "values", "words"),
    [
        ("pause", {}, {}, "looks at the reward"),
        ("random", {}, {"seed": 1}, r"seed = 0 \(asked for: 1\), .*other partition"),
        ("random", {"training": {"n_epochs": 2}}, {}, "training.n_epochs = 1"),
        ("random", {"privacy": {"epsilon_total": 7.0}}, {}, "privacy.epsilon_total = 40"),
    ],
)
def test_what_trains_otherwise_is_refused(
    runs: Runs,
    r1: Scenario,
    r2: Scenario,
    selector: str,
    changes: dict[str, Any],
    values: dict[str, Any],
    words: str,
) -> None:
    trained = runs.train(r1, selector)
    with pytest.raises(ConfigError, match=f"trained something else than this job would: .*{words}"):
        runs.retime(trained, changed(r2, **changes), selector, **values)


def test_a_run_of_other_code_or_data_or_without_training_is_refused(
    runs: Runs, r1: Scenario, r2: Scenario
) -> None:
    trained = runs.train(r1)
    code = told(trained)["code_hash"]
    told(trained, code_hash="0" * 16)
    with pytest.raises(ConfigError, match="other code"):
        runs.retime(trained, r2)
    told(trained, code_hash=code, trained=False)
    with pytest.raises(PauseflError, match="of a run without training"):
        runs.retime(trained, r2)
    told(trained, trained=True)
    runs.retime(trained, r2)
    pixels = runs.digits.test_x.copy()
    pixels[0] ^= 1
    runs.digits = dataclasses.replace(runs.digits, test_x=pixels)
    with pytest.raises(ConfigError, match="other data set"):
        runs.retime(trained, r2)


@pytest.mark.parametrize("column", ["selection", "leakage_max"])
def test_a_run_with_other_selections_is_refused(runs: Runs, r1: Scenario, r2: Scenario, column: str) -> None:
    trained = runs.train(r1)
    rounds = pd.read_parquet(trained / "rounds.parquet")
    if column == "selection":  # who took part how often stays
        rounds.loc[[4, 5], column] = rounds.loc[[5, 4], column].to_numpy()
    else:
        rounds.at[4, column] += 1
    rounds.to_parquet(trained / "rounds.parquet")
    with pytest.raises(PauseflError, match="files of different runs: rounds"):
        runs.retime(trained, r2)
    told(trained, digests=told(trained)["digests"] | {"rounds.parquet": hashing.of_table(rounds)})
    with pytest.raises(PauseflError, match=r"does not select as this job does: see round 5$"):
        runs.retime(trained, r2)


@pytest.mark.parametrize("selector", ["random", "clustered_similarity"])
def test_a_job_that_its_horizon_ends_earlier_has_the_first_rounds(
    runs: Runs, r1: Scenario, r2: Scenario, selector: str
) -> None:
    trained = runs.train(r1, selector)
    elapsed = pd.read_parquet(runs.train(r2, selector) / "rounds.parquet")["elapsed_s"]
    for n, evaluated in ((4, False), (6, True)):
        ends = changed(r2, training={"time_horizon_s": float(elapsed[n - 1])}).replace(name=f"ends_{n}")
        out = runs.retime(trained, ends, selector)
        assert (out / "summary.json").exists() == evaluated
    assert tables(out) == tables(runs.train(ends, selector))
    assert [told(out)[key] for key in ("rounds_made", "ended_by")] == [6, "time_horizon_s"]
    assert told(out)["class_accuracy"] is None
    read_run(out)
    for diverged, expected in ((6, 6), (7, None)):
        told(trained, diverged_round=diverged)
        assert told(runs.retime(trained, ends, selector))["diverged_round"] == expected
    told(trained, refused_updates={"n": 1, "first": [{"round": 7, "user": 0}]})
    assert not (runs.retime(trained, ends, selector) / "summary.json").exists()


def test_scenarios_that_train_alike_differ_in_the_reward_alone_and_end_no_later(
    r1: Scenario, r2: Scenario
) -> None:
    assert can_reuse_training(r2, r1)
    assert not can_reuse_training(r2, changed(r1, training={"n_epochs": 2}))
    (soon, soon_r1), (late, _) = (
        [changed(one, training={"time_horizon_s": horizon}) for one in (r2, r1)] for horizon in (3.0, 4.0)
    )
    assert can_reuse_training(soon, soon_r1)
    assert not can_reuse_training(late, soon_r1)  # ends before
    assert not can_reuse_training(soon_r1, soon)  # its rounds last longer
