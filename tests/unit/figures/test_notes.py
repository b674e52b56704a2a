"""Figures and tables say at which scale their runs were made, and warn where they have to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.figures import kinds, notes, style
from pausefl.runs.run import Run
from pausefl.settings import Experiment, load_scenario
from pausefl.settings import scenario as config

ROOT = Path(__file__).parents[3]


def load(name: str) -> config.Scenario:
    return load_scenario(name, ROOT / "config" / "scenarios")


def run(selector: str, seed: int, diverged: int | None = None) -> Mapping[str, Any]:
    return {
        "selector": selector,
        "seed": seed,
        "diverged_round": diverged,
    }


def notes_on(*runs: Mapping[str, Any]) -> notes.Notes:
    return notes.run_notes(runs)


def test_losses_outside_the_budget_are_told() -> None:
    runs = [
        {**run("pause", seed), "losses": losses}
        for seed, losses in enumerate(("unaccounted", "accounted", None))
    ]
    shown = "Users report training losses without noise, outside the budget: PAUSE."
    assert shown in notes_on(*runs, run("random", 0)).shown
    assert shown not in notes_on(*runs[1:], run("random", 0)).all()


def test_any_key_that_was_changed_is_told_with_both_values() -> None:
    scenario = load("demo_small")
    other = {"reward.overlap_latency": None, "network.n_users": 500, "selection.temperature_divisor": 1.5}
    other_settings = scenario.replace(scale="own", changed=other)
    assert re.findall(r"[\d.]+\d|none", notes.scale_note(other_settings)) == [
        *("none", "none"),
        *("12", "500"),
        *("30.0", "1.5"),
    ]


def test_a_seed_computed_otherwise_than_its_siblings_is_told() -> None:
    def on(seed: int, torch: str = "2.13.0", device: str = "cpu", instructions: str = "avx2") -> Any:
        machine = {"versions": {"torch": torch}, "hardware": {"instructions": instructions}}
        return {**run("pause", seed), "device": device, "n_threads": 1, **machine}

    said = "Seeds computed otherwise than others: PAUSE in {}."
    assert said.format("version of PyTorch (0 | 1)") in notes_on(on(0), on(1, "2.12.0")).shown
    assert said.format("device (0, 2 | 1)") in notes_on(on(0), on(1, device="cuda"), on(2)).shown
    assert said.format("number of threads (0 | 1)") in notes_on(on(0), on(1) | {"n_threads": 2}).shown
    both = notes_on(on(0), on(1, "2.12.0", instructions="sse2"), run("random", 0), run("random", 1))
    assert both.shown == [said.format("version of PyTorch (0 | 1), processor (0 | 1)")]
    old = {**on(2), "hardware": {}}
    assert not notes_on(on(0), on(1), old, {**run("random", 0), "device": "cuda"}).shown
    taken = {
        **on(1, "2.12.0"),
        "trained_by": {"scenario": "other", **{k: on(1)[k] for k in ("versions", "hardware")}},
    }
    assert notes_on(on(0), taken).shown == []


def test_selectors_without_a_run_are_told() -> None:
    paper, demo = load("cifar10_small_iid_r1"), load("demo_small")
    run_ones = {
        "pause",
        "sa_pause",
        "sa_pause_v1",
        "random",
        "clustered_size",
        "clustered_similarity",
        "fastest",
    }
    told = "Not run: FedAvg with privacy, FedAvg w/o privacy."
    assert notes.absent_note(paper, run_ones) == told
    assert not notes.absent_note(paper, set(paper.selectors) - {"pause_brute"})
    assert not notes.absent_note(demo, {"pause"})


def test_what_is_shown_together_says_what_it_lacks_and_where_it_comes_from() -> None:
    paper = load("cifar10_small_iid_r1")
    summaries = [
        run(name, seed) | {"versions": {"torch": f"2.{seed}"}, "dataset_origin": "here"}
        for name, seed in (("pause", 3), ("random", 1), ("random", 3))
    ]
    runs = {
        Experiment("tiny", one["selector"], one["seed"]): Run(pd.DataFrame(), pd.DataFrame(), dict(one))
        for one in summaries
    }
    shown = notes.notes_of(paper, runs.values()).shown
    assert shown == [*notes.run_notes(summaries).shown, notes.absent_note(paper, {"pause", "random"})]
    assert shown[-1].startswith("Not run: SA-PAUSE")
    assert notes.origin(runs, "results/published") == {
        "runs": [
            f"results/published/tiny/{name}" for name in ("pause/seed-3", "random/seed-1", "random/seed-3")
        ],
        "seeds": [1, 3],
        "versions": {"torch": ["2.1", "2.3"]},
        "dataset_origins": ["here"],
    }


def test_divergence_is_told_of_each_run() -> None:
    runs = [run("random", 1, diverged=7), run("pause", 0), run("pause", 1), run("random", 0, diverged=290)]
    (note,) = notes_on(*runs).shown
    assert "Random (seed 0 in round 290; seed 1 in round 7)" in note


def rounds(n_seeds: int) -> pd.DataFrame:
    frames = [
        pd.DataFrame(
            {
                "scenario": "demo_small",
                "selector": selector,
                "seed": seed,
                "round": range(1, 13),
                "selection": [[0, 1, 2]] * 12,
                "elapsed_s": np.arange(1.0, 13) * (1 + seed),
                "accuracy": np.linspace(0.1, 0.9 - 0.2 * seed, 12),
                "loss": np.linspace(2, 1, 12),
                "leakage_max": 40 * (1 - np.exp(-0.04 * np.arange(1.0, 13))),
            }
        )
        for selector in ("pause", "random")
        for seed in range(n_seeds)
    ]
    return pd.concat(frames)


def test_notes_lie_below_the_axes_and_take_nothing_from_the_axes() -> None:
    demo = load("demo_small").replace(scale="paper")
    plain = kinds.plot("accuracy_vs_time", rounds(2), demo).figure
    noted = kinds.plot(
        "accuracy_vs_time", rounds(2), demo, ["A long sentence that has to be broken. " * 5]
    ).figure
    heights = []
    for figure in (plain, noted):
        with style.theme():
            figure.draw_without_rendering()
        heights.append(figure.axes[0].get_window_extent().height / figure.dpi)
        for text in figure.texts:
            below = figure.axes[0].get_tightbbox().y0
            assert 0 < text.get_window_extent().y0 < text.get_window_extent().y1 <= below
            assert text.get_window_extent().x1 <= figure.bbox.x1
    assert heights[0] == pytest.approx(heights[1], abs=0.01)
    assert not plain.texts
