"""The authors' own runs: the numbers are theirs, and the mark says whether they lie among ours."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.results.authors_archive import ARCHIVED, archived, beside_ours, tally
from pausefl.settings import Scenario, load_scenario

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"

#: Scenario and selector of every archived run: its rounds, and what it had after the last one.
RUNS = {
    ("mnist_small_authors", "sa_pause_v1"): (300, 183.61, 0.8535),
    ("mnist_small_authors", "pause"): (300, 152.21, 0.839),
    ("mnist_small_authors", "fedavg_no_privacy"): (300, 281.78, 0.8429),
    ("mnist_small_authors", "fedavg"): (245, 230.0, 0.0857),
    ("mnist_small_authors", "fastest"): (300, 41.68, 0.0947),
    ("mnist_small_authors", "random"): (284, 238.25, 0.8313),
    ("mnist_large_authors", "sa_pause_v1"): (300, 214.45, 0.8824),
    ("mnist_large_authors", "fastest"): (171, 24.57, 0.1405),
    ("mnist_large_authors", "random"): (300, 271.52, 0.8251),
    ("cifar10_small_authors", "sa_pause_v1"): (300, 183.61, 0.6939),
    ("cifar10_small_authors", "pause"): (300, 152.21, 0.6996),
    ("cifar10_small_authors", "fedavg_no_privacy"): (123, 115.38, 0.7469),
    ("cifar10_small_authors", "fedavg"): (259, 242.96, 0.1071),
    ("cifar10_small_authors", "fastest"): (300, 41.68, 0.109),
    ("cifar10_small_authors", "random"): (300, 252.28, 0.6801),
}


def scenario(name: str = "mnist_large_authors") -> Scenario:
    return load_scenario(name, SCENARIOS)


def test_the_archive_holds_the_authors_numbers() -> None:
    found = {(name, selector): run for name in ARCHIVED for selector, run in archived(name).items()}
    assert found.keys() == RUNS.keys()
    for key, (n_rounds, seconds, accuracy) in RUNS.items():
        run = found[key]
        assert list(run["round"]) == list(range(1, n_rounds + 1))
        assert run["elapsed_s"].is_monotonic_increasing
        assert (run["elapsed_s"].iloc[-1], run["accuracy"].iloc[-1]) == (seconds, accuracy)
    large = found["mnist_large_authors", "sa_pause_v1"].set_index("round")["leakage_max"].dropna()
    assert large.to_dict() == {50: 14.8, 100: 21.3, 200: 38.1, 300: 49.3}
    assert sum(run["leakage_max"].notna().sum() for run in found.values()) == 31


def repeated(selector: str, seeds: int, **changes: Any) -> pd.DataFrame:
    """Runs of ours that repeat an archived one; in round t users (t + i) mod 300 of i < 15 take part."""
    run = archived("mnist_large_authors")[selector]
    leakage = run["leakage_max"].ffill().fillna(0)
    own = run.assign(leakage_max=leakage, scenario="mnist_large_authors", selector=selector)
    own["selection"] = [(15 * t + np.arange(15)) % 300 for t in range(len(own))]
    return pd.concat([own.assign(seed=seed, **changes) for seed in range(seeds)], ignore_index=True)


def of(table: pd.DataFrame, quantity: str, at: float) -> pd.Series:
    (row,) = [row for _, row in table[table["quantity"] == quantity].iterrows() if row["at"] == at]
    return row


def test_a_repeated_run_lies_inside() -> None:
    table = beside_ours(repeated("random", 2), scenario())
    own = table[table["selector"] == "random"]
    for column in ("mean", "low", "high"):
        np.testing.assert_allclose(own[column], own["authors"])
    assert own["inside"].all()
    assert set(own["n_seeds"]) == {2}
    assert list(own["quantity"]) == 4 * ["accuracy"] + 2 * ["seconds_to_target"] + ["elapsed_s"] + 4 * [
        "leakage_max"
    ]
    inside, marked, expected = tally(table)
    assert inside == marked == len(own)
    assert expected == pytest.approx(len(own) / 3)


def test_the_range_is_that_of_our_seeds_and_marks_what_is_outside() -> None:
    ours = repeated("random", 3)
    ours["accuracy"] += 0.01 * ours["seed"] - 0.005
    ours["elapsed_s"] *= 1.1 + 0.1 * ours["seed"]
    table = beside_ours(ours, scenario())
    table = table[table["selector"] == "random"]
    accuracy = of(table, "accuracy", 100)
    assert accuracy["high"] - accuracy["authors"] == pytest.approx(0.015)
    assert accuracy["authors"] - accuracy["low"] == pytest.approx(0.005)
    assert accuracy["mean"] - accuracy["authors"] == pytest.approx(0.005)
    assert accuracy["inside"]
    time = of(table, "elapsed_s", 300)
    assert time["low"] == pytest.approx(1.1 * 271.52)
    assert not time["inside"]


def test_a_target_that_theirs_never_reached_counts_only_if_all_of_ours_reached_it_in_time() -> None:
    theirs = archived("mnist_large_authors")["fastest"]
    ours = repeated("fastest", 2, accuracy=0.9)
    row = of(beside_ours(ours, scenario()).query("selector == 'fastest'"), "seconds_to_target", 0.8)
    assert math.isinf(row["authors"])
    assert not pd.isna(row["inside"])
    assert not row["inside"]
    # From the last round on, that is after the end of theirs.
    late = ours.assign(elapsed_s=ours["elapsed_s"] + theirs["elapsed_s"].iloc[-1])
    for runs in (late, repeated("fastest", 2)):
        row = of(beside_ours(runs, scenario()).query("selector == 'fastest'"), "seconds_to_target", 0.8)
        assert pd.isna(row["inside"])
