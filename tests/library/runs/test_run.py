"""The files of a run are of one run, or they are refused; tried on published runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from scenarios import changed

import pausefl
from pausefl.errors import PauseflError
from pausefl.runs.collected import read_run, write
from pausefl.runs.run import rounds_made
from pausefl.settings import Scenario

ROOT = Path(__file__).parents[3]
RUNS = ROOT / "results" / "published" / "mnist_small_authors"


def unpacked(run: str, folder: Path) -> Path:
    """A published run in files of its own."""
    pausefl.read_run(RUNS / run).save(folder)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return unpacked("pause/seed-0", tmp_path / "run")


@pytest.mark.parametrize(
    ("other", "files", "words"),
    [
        ("random/seed-0", ["rounds.parquet"], "who took part how often"),
        ("random/seed-0", ["ledger.parquet"], "who took part how often"),
        ("pause/seed-1", ["rounds.parquet", "ledger.parquet"], "differ from what"),
        ("pause/seed-1", ["summary.json"], "differ from what"),
    ],
)
def test_files_of_another_run_are_refused(run: Path, other: str, files: list[str], words: str) -> None:
    unpacked(other, run.with_name("other"))
    for file in files:
        shutil.copy(run.with_name("other") / file, run)
    with pytest.raises(PauseflError, match=f"files of different runs: .*{words}"):
        read_run(run)


@pytest.fixture
def ended(finish: Callable[..., Path], demo: Scenario, tmp_path: Path) -> Path:
    """A run of today that its time horizon ended."""
    scenario = changed(demo, training={"time_horizon_s": 2.5, "evaluate_every": 3})
    return finish(tmp_path / "ended", "pause", n_rounds=100, scenario=scenario)


def test_a_run_that_its_time_horizon_ended_agrees(ended: Path) -> None:
    run = read_run(ended)
    assert rounds_made(run.summary) == len(run.rounds) < run.summary["n_rounds"] == 100
    assert run.rounds["accuracy"].isna().any()
    write([run], ended.parent / "demo_small")
    assert read_run(ended.parent / "demo_small" / "pause" / "seed-0").summary == run.summary


@pytest.mark.parametrize("horizon", [None, 0.9, 100.0])
def test_a_run_that_does_not_end_at_its_horizon_is_refused(ended: Path, horizon: float | None) -> None:
    summary = json.loads((ended / "summary.json").read_text("utf-8"))
    summary["scenario"]["training"]["time_horizon_s"] = horizon
    (ended / "summary.json").write_text(json.dumps(summary), "utf-8")
    with pytest.raises(PauseflError, match="does not end where"):
        read_run(ended)


@pytest.mark.parametrize(
    "names", [["rounds.parquet"], ["ledger.parquet"], ["rounds.parquet", "ledger.parquet"]]
)
def test_tables_that_the_summary_was_not_written_with_are_named(ended: Path, names: list[str]) -> None:
    """A change that all other comparisons let pass."""
    changes = {"rounds.parquet": ("train_loss", 1e-12), "ledger.parquet": ("values_unprotected", 1)}
    for name in names:
        column, more = changes[name]
        table = pd.read_parquet(ended / name)
        table[column] += more
        table.to_parquet(ended / name)
    with pytest.raises(PauseflError, match=f"{' and '.join(names)} differ from what summary.json"):
        read_run(ended)


def test_another_leakage_is_refused(run: Path) -> None:
    path = run / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.assign(leakage_max=rounds["leakage_max"] * 0.99).to_parquet(path)
    with pytest.raises(PauseflError, match="differ in the largest budget spent"):
        read_run(run)


def test_a_run_is_read_without_its_file_of_latencies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lat.csv").write_text("user,mean,std\n" + "".join(f"{user},1,0.1\n" for user in range(12)), "utf-8")
    none = dict.fromkeys(("fast_latency_max", "slow_latency_min", "slow_latency_max", "latency_std"))
    network = none | {"latency": "measured", "latency_file": "lat.csv"}
    scenario = changed(pausefl.load_scenario("demo_small"), network=network)
    pausefl.run(scenario, "random", n_rounds=2, train=False, progress=False).save("run")
    Path("lat.csv").unlink()
    assert len(pausefl.read_run("run").rounds) == 2


def test_a_folder_that_is_not_there_is_said_to_be_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PauseflError, match=r"rounds\.parquet is missing"):
        pausefl.read_run("seed-9")
    monkeypatch.chdir(RUNS.parent)
    assert pausefl.read_run("mnist_small_authors/pause/seed-0").seed == 0
