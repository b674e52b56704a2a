"""A job that takes over the training of another has the bytes of a job that trains, or is refused."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.cli import main
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.earlier import take_over
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.federated.runnable import trains_alike
from pausefl.registry import SELECTORS
from pausefl.results.closing import closing
from pausefl.results.runs import read_run
from pausefl.selectors.baselines import Random
from pausefl.settings import Scenario

#: Selectors of the papers' scenarios that have both rewards.
BLIND = ["random", "clustered_size", "clustered_similarity", "fastest", "fedavg", "fedavg_no_privacy"]
TABLES = ("rounds.parquet", "ledger.parquet")
R2 = {"name": "r2", "n_clusters": 4, "overlap_penalty": 0.02, "overlap_latency": 0.05}


def changed(scenario: Scenario, **changes: Any) -> Scenario:
    """A scenario with some keys of its sections replaced."""
    return scenario.replace(
        **{name: getattr(scenario, name).replace(**keys) for name, keys in changes.items()}
    )


@pytest.fixture(scope="module")
def r1(demo: Scenario) -> Scenario:
    """Evaluated in some rounds; users run out of budget."""
    few = {"schedule": "uniform", "decay": None, "n_participations": 3}
    return changed(demo, training={"evaluate_every": 3, "evaluate_all_until": 2}, privacy=few)


@pytest.fixture(scope="module")
def r2(r1: Scenario) -> Scenario:
    return changed(r1, reward=R2).replace(name="demo_r2")


class Runs:
    """Runs of eight rounds, and jobs that take them over."""

    def __init__(self, digits: Dataset, share: Callable[..., Partition], folder: Path) -> None:
        self.digits, self.share, self.folder = digits, share, folder

    def train(self, scenario: Scenario, selector: str, **values: Any) -> Path:
        job = Job(scenario, selector, 0, 8, device="cpu")
        job = dataclasses.replace(job, **values)
        out = self.folder / f"{scenario.name}-{selector}"
        if not (out / "summary.json").exists():
            run_job(job, self.digits, self.share(scenario, job.seed), out)
        return out

    def take_over(self, scenario: Scenario, selector: str, trained: Path, **values: Any) -> Path:
        job = dataclasses.replace(Job(scenario, selector, 0, 8), **values)
        out = self.folder / f"taken-over-{selector}"
        take_over(job, self.digits, self.share(scenario, job.seed), trained, out)
        return out


@pytest.fixture
def runs(digits: Dataset, share_out: Callable[..., Partition], tmp_path: Path) -> Runs:
    return Runs(digits, share_out, tmp_path)


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("selector", BLIND)
def test_the_tables_are_those_of_a_job_that_trains(
    runs: Runs, r1: Scenario, r2: Scenario, selector: str
) -> None:
    trained, expected = runs.train(r1, selector), runs.train(r2, selector)
    out = runs.take_over(r2, selector, trained)
    for name in TABLES:
        assert (out / name).read_bytes() == (expected / name).read_bytes()
    assert (trained / "rounds.parquet").read_bytes() != (expected / "rounds.parquet").read_bytes()
    read_run(out)
    ours, theirs = told(out), told(expected)
    assert ours.pop("trained_by")["scenario"] == r1.name
    course = {"timings_s", "peak_memory_bytes"}
    assert {k: v for k, v in ours.items() if k not in course} == {
        k: v for k, v in theirs.items() if k not in course
    }
    assert ours["timings_s"]["training"] == 0
    assert f"by the run of {r1.name}, which trains the same" in closing(out)


def test_a_selector_that_looks_at_losses_repeats_its_selections(
    runs: Runs, r1: Scenario, r2: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = dataclasses.replace(SELECTORS["random"], needs_losses=True)
    monkeypatch.setitem(SELECTORS, "random", record)
    trained = runs.train(r1, "random")

    def without_losses(*_: Any) -> Any:
        raise AssertionError("selected without the losses that it needs")

    monkeypatch.setattr(Random, "__call__", without_losses)
    out = runs.take_over(r2, "random", trained)
    found, expected = (pd.read_parquet(folder / "rounds.parquet") for folder in (out, trained))
    assert [s.tolist() for s in found.selection] == [s.tolist() for s in expected.selection]


def test_divergence_and_refused_updates_are_taken_over(runs: Runs, r1: Scenario, r2: Scenario) -> None:
    steep = {"training": {"learning_rate": 1e12}}
    trained = runs.train(changed(r1, **steep), "fedavg_no_privacy")
    out = runs.take_over(changed(r2, **steep), "fedavg_no_privacy", trained)
    assert told(out)["diverged_round"] == told(trained)["diverged_round"] == 1
    assert told(out)["class_accuracy"] == told(trained)["class_accuracy"]
    assert len(told(out)["class_accuracy"]) == 10


def test_every_selector_that_is_blind_to_the_reward_says_so() -> None:
    assert not any(SELECTORS[name].uses_reward for name in BLIND)


@pytest.mark.parametrize(
    ("selector", "changes", "values", "words"),
    [
        ("pause", {}, {}, "looks at the reward"),
        ("random", {}, {"seed": 1}, r"seed = 0 \(asked for: 1\), .*other partition"),
        ("random", {}, {"n_rounds": 7}, r"n_rounds = 8 \(asked for: 7\)"),
        ("random", {"training": {"n_epochs": 2}}, {}, "training.n_epochs = 1"),
        ("random", {"model": {"name": "linear"}}, {}, "model.name = fc"),
        ("random", {"privacy": {"epsilon_total": 7.0}}, {}, "privacy.epsilon_total = 40"),
        ("random", {"network": {"latency_std": 0.1}}, {}, "network.latency_std"),
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
        runs.take_over(changed(r2, **changes), selector, trained, **values)
    assert not (runs.folder / f"taken-over-{selector}" / "summary.json").exists()


def test_other_data_or_code_are_refused(runs: Runs, r1: Scenario, r2: Scenario) -> None:
    trained = runs.train(r1, "random")
    summary = told(trained)
    (trained / "summary.json").write_text(json.dumps(summary | {"code_hash": "0" * 16}))
    with pytest.raises(ConfigError, match="other code"):
        runs.take_over(r2, "random", trained)
    (trained / "summary.json").write_text(json.dumps(summary))
    pixels = runs.digits.test_x.copy()
    pixels[0] ^= 1
    runs.digits = dataclasses.replace(runs.digits, test_x=pixels)
    with pytest.raises(ConfigError, match="other data set"):
        runs.take_over(r2, "random", trained)


def test_a_run_that_was_not_trained_or_is_damaged_is_refused(runs: Runs, r1: Scenario, r2: Scenario) -> None:
    alone = runs.train(r1, "random", train=False)
    with pytest.raises(PauseflError, match=r"trained = False \(asked for: True\)"):
        runs.take_over(r2, "random", alone)
    trained = runs.train(r1, "fastest")
    path = trained / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.assign(accuracy=rounds["accuracy"] + 1e-9).to_parquet(path)
    with pytest.raises(PauseflError, match=r"rounds\.parquet differs from what"):
        runs.take_over(r2, "fastest", trained)
    with pytest.raises(PauseflError, match="no such file"):
        runs.take_over(r2, "fastest", runs.folder / "nowhere")


def test_other_selections_are_found(
    runs: Runs, r1: Scenario, r2: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = runs.train(r1, "random")
    monkeypatch.setattr(
        "pausefl.selectors.baselines.Random.__call__", lambda self, history, rng: np.arange(3)
    )
    with pytest.raises(PauseflError, match="does not select as this job does: round 1 has other users"):
        runs.take_over(r2, "random", trained)


def test_scenarios_that_train_alike_differ_in_the_reward_alone(r1: Scenario, r2: Scenario) -> None:
    assert trains_alike(r2, r1)
    assert trains_alike(r2, changed(r1, selection={"n_iterations": 7, "exploitation": 2.0}))
    for other in (
        changed(r1, training={"n_epochs": 2}),
        changed(r1, network={"n_users": 13}),
        changed(r1, privacy={"epsilon_total": 7.0}),
    ):
        assert not trains_alike(r2, other)
    ended, later = (
        [changed(one, training={"time_horizon_s": horizon}) for one in (r2, r1)] for horizon in (3.0, 4.0)
    )
    assert trains_alike(ended[0], ended[1])
    assert trains_alike(ended[0], later[1])
    assert trains_alike(ended[0], r1)
    assert trains_alike(ended[1], r2)
    assert not trains_alike(later[0], ended[1])  # ends before
    assert not trains_alike(ended[1], ended[0])  # its rounds last longer
    assert not trains_alike(r2, ended[1])


@pytest.mark.parametrize("selector", ["random", "clustered_similarity"])
def test_a_job_that_its_horizon_ends_earlier_takes_the_first_rounds_over(
    runs: Runs, r1: Scenario, r2: Scenario, selector: str
) -> None:
    every = {"training": {"evaluate_every": 1}}
    trained = runs.train(changed(r1, **every), selector)
    elapsed = pd.read_parquet(runs.train(changed(r2, **every), selector) / "rounds.parquet")["elapsed_s"]
    ends = changed(r2, training={"evaluate_every": 1, "time_horizon_s": float(elapsed[4])})
    out = runs.take_over(ends, selector, trained)
    expected = runs.train(ends.replace(name="demo_r2_ends"), selector)
    for name in TABLES:
        assert (out / name).read_bytes() == (expected / name).read_bytes()
    assert len(pd.read_parquet(out / "rounds.parquet")) == told(out)["rounds_made"] == 5
    assert told(out)["ended_by"] == "time_horizon_s"
    assert told(out)["class_accuracy"] is None
    read_run(out)


def test_without_an_evaluation_after_the_last_round_the_job_has_to_train(
    runs: Runs, r1: Scenario, r2: Scenario
) -> None:
    trained = runs.train(r1, "random")  # evaluated after rounds 1, 2, 3, 6 and 8
    elapsed = pd.read_parquet(runs.train(r2, "random") / "rounds.parquet")["elapsed_s"]
    for n, possible in ((4, False), (6, True)):
        ends = changed(r2, training={"time_horizon_s": float(elapsed[n - 1])})
        job, out = Job(ends, "random", 0, 8), runs.folder / f"{n}"
        assert take_over(job, runs.digits, runs.share(ends, 0), trained, out) == possible
        assert (out / "summary.json").exists() == possible
    short = changed(r1, training={"time_horizon_s": float(elapsed[1])}).replace(name="short")
    with pytest.raises(ConfigError, match="ended after round"):
        runs.take_over(r2, "random", runs.train(short, "random"))


def test_from_the_command_line(
    digits: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    digits.save(tmp_path / "digits.npz")

    def run(out: str, *more: object) -> tuple[int, str]:
        command = ["pausefl", "run", "--scenario", "demo_small", "--selector", "random", "--rounds", "2"]
        command += ["--data", str(tmp_path / "digits.npz"), "--out", str(tmp_path / out), *map(str, more)]
        monkeypatch.setattr("sys.argv", command)
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return int(stop.value.code or 0), said.out + said.err

    r2 = [word for key, value in R2.items() for word in ("--set", f"reward.{key}={value}")]
    assert run("first")[0] == 0
    code, said = run("second", *r2, "--trained-by", tmp_path / "first")
    assert (code, "by the run of demo_small" in said) == (0, True)
    assert "Already finished" in run("second", *r2)[1]
    assert run("third", *r2, "--trained-by", tmp_path / "first", "--no-train")[0] == 2
