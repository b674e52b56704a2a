"""From a figure back to its runs, and two runs side by side."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from pausefl import lookback
from pausefl.checkpoint import Saving
from pausefl.config import Config, load_config, load_scenario, read_yaml
from pausefl.data.dataset import Dataset
from pausefl.data.partition import make_partition
from pausefl.errors import PauseflError
from pausefl.job import Job, run_job
from pausefl.streams import Streams

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "config/scenarios"
FIGURE = "demo_small_accuracy"
MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(digits: Dataset, tmp_path: Path) -> Iterator[MakeRun]:
    def run(selector: str, seed: int = 0, n_rounds: int = 6) -> Path:
        scenario = load_scenario("demo_small", SCENARIOS)
        partition = make_partition(
            digits.train_y, scenario.data, scenario.partition, scenario.network.n_users, Streams(seed)
        )
        out = tmp_path / f"results/runs/demo_small/{selector}/seed-{seed}"
        out.mkdir(parents=True)
        job = Job(scenario, selector, seed, n_rounds, device="cpu")
        run_job(job, digits, partition, out, lambda _: None, Saving())
        return out

    threads = torch.get_num_threads()
    yield run
    torch.set_num_threads(threads)


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.chdir(ROOT)
    return load_config(read_yaml(Path("config/demo.yaml")))


def draw(results: Path, runs: list[Path], **settings: Any) -> None:
    """The sidecar of a figure of these runs."""
    scenario = load_scenario("demo_small", SCENARIOS).as_dict()
    for section, values in settings.items():
        scenario[section] |= values
    facts = {
        "kind": "accuracy_vs_time",
        "runs": [str(Path("results") / run.relative_to(results)) for run in runs],
        "scenario": scenario,
        "caption": {"paper_figures": "none", "origin": "digits", "deviations": ["D8: per coordinate"]},
    }
    sidecar = results / "figures/demo_small/accuracy_vs_time.json"
    sidecar.parent.mkdir(parents=True)
    sidecar.write_text(json.dumps(facts))


def test_a_figure_is_traced_to_rows_runs_code_and_deviations(
    make_run: MakeRun, config: Config, tmp_path: Path
) -> None:
    runs = [make_run("pause"), make_run("random", seed=1)]
    draw(tmp_path / "results", runs)
    said = lookback.explain(FIGURE, config, SCENARIOS, tmp_path / "results")
    assert "Rows of the experiment table: demo_small" in said
    assert "pause, random" in said
    for run in runs:
        code = json.loads((run / "summary.json").read_text())["code_hash"]
        assert f"{run}: 6 rounds, code {code}, " in said
    assert "D8: per coordinate" in said
    assert "changed since" not in said


def test_what_is_no_longer_as_it_was_is_said(make_run: MakeRun, config: Config, tmp_path: Path) -> None:
    runs = [make_run("pause"), make_run("random")]
    draw(tmp_path / "results", runs, training={"learning_rate": 0.5})
    summary = json.loads((runs[0] / "summary.json").read_text())
    (runs[0] / "summary.json").write_text(json.dumps(summary | {"code_hash": "0" * 16, "diverged_round": 4}))
    shutil.rmtree(runs[1])
    said = lookback.explain(FIGURE, config, SCENARIOS, tmp_path / "results")
    assert "(changed since: training.learning_rate)" in said
    assert f"code {'0' * 16} (the code has changed since)" in said
    assert "diverged in round 4" in said
    assert f"{runs[1]}: not there any more" in said


def test_unknown_and_undrawn_figures_are_refused(config: Config, tmp_path: Path) -> None:
    with pytest.raises(
        PauseflError, match=r"unknown figure 'demo_smal_accuracy'.*Did you mean 'demo_small_acc"
    ):
        lookback.explain("demo_smal_accuracy", config, SCENARIOS, tmp_path)
    with pytest.raises(PauseflError, match=f"draw the figure with snakemake --cores 2 {FIGURE}"):
        lookback.explain(FIGURE, config, SCENARIOS, tmp_path)


def test_two_runs_are_laid_side_by_side(make_run: MakeRun) -> None:
    first, second = make_run("pause"), make_run("fedavg")
    said = lookback.compare(first, second)
    assert f"A: {first}\nB: {second}" in said
    rows = {line.split("  ")[1].strip(): line.split() for line in said.splitlines() if line.startswith("  ")}
    assert rows["selector"][1:] == ["pause", "fedavg"]
    assert "seed" not in rows
    elapsed = [pd.read_parquet(run / "rounds.parquet").elapsed_s.iloc[-1] for run in (first, second)]
    assert rows["simulated time (s)"][-2:] == [f"{seconds:.2f}" for seconds in elapsed]
    assert "First difference: selection in round 1" in said


def test_a_run_is_identical_to_itself(make_run: MakeRun) -> None:
    run = make_run("pause")
    said = lookback.compare(run, run)
    assert "Their first 6 rounds are identical." in said
    assert "nothing" in said


def test_the_first_difference_is_found(make_run: MakeRun, tmp_path: Path) -> None:
    run, changed = make_run("pause"), tmp_path / "changed"
    shutil.copytree(run, changed)
    rounds = pd.read_parquet(run / "rounds.parquet")
    rounds.loc[3, "accuracy"] += 0.1
    rounds.to_parquet(changed / "rounds.parquet")
    assert lookback.compare(run, changed).endswith("First difference: accuracy in round 4.")


def test_what_is_no_run_cannot_be_compared(tmp_path: Path) -> None:
    with pytest.raises(PauseflError, match="is not a finished run: it has no summary"):
        lookback.compare(tmp_path, tmp_path)
