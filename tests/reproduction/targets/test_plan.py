"""What jobs will cost: sums of what they do, and rates that fit what was measured."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIOS, row

from pausefl.errors import ConfigError
from pausefl.reproduction.targets.plan import (
    estimate,
    job_estimate,
    memory_mb,
    minutes,
    network_key,
    shipped_rates,
    to_text,
)
from pausefl.reproduction.targets.project import Project
from pausefl.settings import RawData, Scenario, load_scenario

ROOT = Path(__file__).parents[3]
RAW = RawData(Path("data/raw"), False, {})

Load = Callable[..., Project]

#: A second for each start, 10 ms a selection, 100 ms a participation, 1 s a mini-batch, 1 ms an example.
RATES: dict[str, Any] = {
    "machine": "a desk",
    "date": "2026-11-21",
    "start_s": 1.0,
    "selection_s": {"pause": 0.01},
    "round_s": {"pause": 0.5, "random": 0.9},
    "noise_s_per_value": 0.001,
    "networks": {
        "fc on mnist": {"participation_s": 0.1, "batch_s": 1.0, "example_s": 0.001, "n_values": 100}
    },
}


def scenario(name: str = "mnist_large_iid_r1", **training: Any) -> Scenario:
    loaded = load_scenario(name, SCENARIOS)
    return loaded.replace(training=loaded.training.replace(**training))


@pytest.mark.parametrize(
    ("selector", "n_users", "noise_s"),
    [("pause", 15, 0.1), ("fedavg", 300, 0.1), ("fedavg_no_privacy", 300, 0)],
)
def test_a_job_is_the_sum_of_what_it_does(selector: str, n_users: int, noise_s: float) -> None:
    """50,000 images over 300 users are 9 mini-batches of 20 each; 10,000 images are evaluated."""
    round_s = n_users * (0.1 + 9 * 1.0 + noise_s) + 10_000 * 0.001 + 0.01
    found = estimate(scenario(n_rounds=7), selector, RAW, RATES)
    assert found == pytest.approx(1.0 + 7 * round_s)


@pytest.mark.parametrize("name", ["config", "demo", "published"])
def test_every_job_of_the_shipped_configurations_has_rates(load: Load, name: str) -> None:
    whole = load(name)
    jobs = [row for name in whole.own for row in whole.experiments[name]]
    assert {network_key(one) for one in whole.scenarios.values()} <= set(shipped_rates()["networks"])
    assert not any(math.isnan(job_estimate(whole, row)) for row in jobs)


def test_a_cluster_is_asked_for_a_few_times_the_estimate(load: Load) -> None:
    """And for more memory than any published run of the model had."""
    whole = load("config")
    for job in (job for name in whole.own for job in whole.experiments[name]):
        estimated = job_estimate(whole, job) / 60
        assert 2 * estimated < minutes(whole, job) <= max(5, 3 * estimated + 1)
    for lines in ROOT.glob("results/published/*/runs.jsonl"):
        if lines.parent.name in whole.experiments:
            memory = memory_mb(whole, lines.parent.name)
            for line in lines.read_text("utf-8").splitlines():
                assert json.loads(line)["peak_memory_bytes"] < memory * 1e6


def test_a_target_costs_what_it_needs(load: Load) -> None:
    def plan(name: str, target: str) -> str:
        return " ".join(to_text(load(name), target, 2).split())

    assert "35 jobs, " in plan("config", "pause_v2_fig8")  # seven selectors, five seeds
    assert "20 jobs, " in (both := plan("config", "bsfl_fig5"))
    assert re.search(r"bsfl_fig5_regret 0\.[2-9]", both)
    unknown = plan("config", "bsfl_fig4")
    assert "jobs," not in unknown
    assert "Not counted: 1 jobs and studies" in unknown
    published = plan("published", "pause_v2_fig8_as_written")
    assert "80 jobs, 80 of them done. Left to compute: 0.0 core-hours" in published
    with pytest.raises(ConfigError, match=r"unknown target 'pause_v2_fig88'.*Did you mean 'pause_v2_fig8'"):
        plan("config", "pause_v2_fig88")


def test_what_is_done_is_not_counted(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = load("demo", experiments=[row("demo_small", "pause", seeds=[0, 1])])
    monkeypatch.chdir(tmp_path)
    before = to_text(one, "demo_small", 1)
    folder = tmp_path / "results/runs/demo_small/pause/seed-1"
    folder.mkdir(parents=True)
    for name in ("rounds.parquet", "ledger.parquet"):
        (folder / name).touch()
    settings = one.scenarios["demo_small"].job_settings("pause")
    made = {"scenario": settings, "selector": "pause"}
    (folder / "summary.json").write_text(json.dumps(made), "utf-8")
    assert "2 jobs, 0 of them done." in before
    assert "2 jobs, 1 of them done." in to_text(one, "demo_small", 1)
    (folder / "summary.json").write_text(
        json.dumps({**made, "scenario": {**settings, "privacy": None}}), "utf-8"
    )
    assert to_text(one, "demo_small", 1) == before
    (folder / "summary.json").write_text("{", "utf-8")
    assert to_text(one, "demo_small", 1) == before
