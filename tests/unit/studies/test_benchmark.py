"""Selectors are measured over the same time, and those on the front are as good as can be had."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from worlds import trained, write_run

from pausefl.settings import Experiment, Scenario
from pausefl.studies import benchmark
from pausefl.studies.benchmark import Benchmark

SUMMARY: dict[str, Any] = {
    "class_accuracy": [0.9, 0.3, None, 0.8],
    "timings_s": {"selection": 0.05},
    "n_rounds": 20,
    "losses": None,
}


def rounds(accuracy: float, leakage: float = 1.0, users: tuple[int, ...] = (0,)) -> pd.DataFrame:
    """20 rounds of 2 s with one accuracy."""
    t = np.arange(1, 21)
    table = pd.DataFrame({"round": t, "elapsed_s": 2.0 * t, "accuracy": accuracy, "leakage_max": leakage * t})
    return table.assign(selection=[np.array(users)] * 20)


def test_a_run_is_measured_up_to_the_time_and_then_keeps_what_it_had(demo: Scenario) -> None:
    n_users = demo.network.n_users
    run = rounds(0.8, users=(0, n_users - 1))
    found = benchmark.measure(demo, run, SUMMARY, 21.0, 0.5)
    assert (found["n_rounds"], found["leakage_max"]) == (10, 10.0)
    assert (found["accuracy"], found["seconds_to_target"]) == (pytest.approx(0.8), 2.0)
    # From chance level, 0.25, to 0.8 in the first two of 21 seconds.
    assert found["accuracy_over_time"] == pytest.approx((2 * (0.25 + 0.8) / 2 + 19 * 0.8) / 21)
    assert (found["slow_share"], found["fairness"]) == (0.5, pytest.approx(2 / n_users))
    assert (found["worst_class_accuracy"], found["selection_ms"]) == (0.3, pytest.approx(2.5))
    later = benchmark.measure(demo, run, SUMMARY, 100.0, 0.5)
    assert (later["n_rounds"], later["leakage_max"]) == (20, 20.0)
    assert later["accuracy_over_time"] == pytest.approx((2 * (0.25 + 0.8) / 2 + 98 * 0.8) / 100)


def test_the_target_is_set_by_private_selectors() -> None:
    frames = [
        rounds(accuracy, leakage).assign(scenario="s", selector=selector, seed=seed)
        for selector, accuracies, leakage in (
            ("pause", (0.7, 0.9), 1.0),
            ("random", (0.85, 0.5), 1.0),
            ("fedavg_no_privacy", (1.0, 1.0), math.inf),
        )
        for seed, accuracy in enumerate(accuracies)
    ]
    assert benchmark.target_accuracy(pd.concat(frames), 30.0) == pytest.approx(0.9 * 0.8)
    frames.insert(0, frames[0].assign(selector="clustered_size", accuracy=math.nan))
    assert benchmark.target_accuracy(pd.concat(frames), 30.0) == pytest.approx(0.9 * 0.8)


def test_the_front_has_those_that_nobody_beats_in_all() -> None:
    means = {
        "pause": (0.8, 5, 50),
        "random": (0.6, 4, 90),
        "fedavg": (0.8, 5, 60),
        "tifl": (0.85, 9, 150),
        "genie": (0.95, 3, 20),
        "fedavg_no_privacy": (0.9, math.inf, 10),
    }
    across = pd.DataFrame(list(means.values()), columns=[f"{name}_mean" for name in benchmark.FRONT])
    across.insert(0, "selector", list(means))
    front = across.loc[benchmark.on_front(across), "selector"].tolist()
    assert front == ["pause", "random", "tifl"]
    assert benchmark.on_front(pd.concat([across[:1], across[:1]])) == [True, True]


@pytest.mark.usefixtures("made_up_runs")
def test_runs_become_a_table(demo: Scenario, tmp_path: Path) -> None:
    scenario = demo.replace(selectors=("pause", "random"))
    study = Benchmark(title="", scenario=scenario, jobs="tiny", seeds=(0, 1), time_s=20.0)
    folders = {}
    ((jobs, keys),) = study.runs
    assert (jobs.name, jobs.job_settings() | {"name": demo.name}) == ("tiny", scenario.job_settings())
    for selector, seed in keys:
        run = Experiment("tiny", selector, seed)
        own = rounds(0.8 if selector == "pause" else 0.73 - 0.1 * seed).to_dict("series")
        losses = "unaccounted" if selector == "pause" else None
        more = SUMMARY | {"losses": losses, "scenario": {"name": "tiny"}}
        folders[run] = write_run(tmp_path, run, trained([0.0] * 20).assign(**own), **more)
    tables = study.compute(lambda note: None, folders)
    assert tables["runs.csv"]["target_accuracy"].unique() == [pytest.approx(0.72)]
    plotted = study.plot(tables)
    pause, random = plotted.tables["summary.csv"].to_dict("records")
    assert (pause["n_seeds"], pause["n_reached"], pause["seconds_to_target_mean"]) == (2, 2, 2.0)
    # Random selection reaches the target under seed 0 after 2 s, under seed 1 not within the 20 s.
    assert (random["n_reached"], random["seconds_to_target_mean"]) == (1, 11.0)
    over_time = tables["runs.csv"].set_index(["selector", "seed"])["accuracy_over_time"]
    less = over_time["random"] - over_time["pause"]
    assert (random["difference"], pause["difference"]) == (pytest.approx(less.mean()), 0)
    half = 12.706 * less.std() / math.sqrt(2)  # Student's t of one degree of freedom
    assert random["difference_high"] == pytest.approx(less.mean() + half, rel=1e-4)
