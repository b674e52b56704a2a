"""Figures and tables say at which scale their runs were made, and warn where they have to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pausefl.analysis.figures import notes
from pausefl.settings import load_scenario
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
    assert said.format("version of PyTorch (0 | 1)") in notes_on(on(0), on(1, "2.12.0")).json_only
    assert said.format("device (0, 2 | 1)") in notes_on(on(0), on(1, device="cuda"), on(2)).json_only
    both = notes_on(on(0), on(1, "2.12.0", instructions="sse2"), run("random", 0), run("random", 1))
    assert not both.shown  # the last digits of numbers differ, no more
    assert both.json_only == [said.format("version of PyTorch (0 | 1), processor (0 | 1)")]


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


def test_divergence_is_told_of_each_run() -> None:
    runs = [run("random", 1, diverged=7), run("pause", 0), run("pause", 1), run("random", 0, diverged=290)]
    (note,) = notes_on(*runs).shown
    assert "Random (seed 0 in round 290; seed 1 in round 7)" in note
