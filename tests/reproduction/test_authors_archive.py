"""The authors' own runs, and the logs behind their figures: the numbers are theirs, and ours beside them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scenarios import SCENARIOS

from pausefl.reproduction.authors_archive import ARCHIVED, LOGGED, archived, beside_ours, logged_rounds, tally
from pausefl.runs.run import split_by_run
from pausefl.runs.run_id import RunId
from pausefl.settings import Scenario, load_scenario

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
    table = beside_ours(split_by_run(repeated("random", 2)), scenario())
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
    table = beside_ours(split_by_run(ours), scenario())
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
    row = of(
        beside_ours(split_by_run(ours), scenario()).query("selector == 'fastest'"), "seconds_to_target", 0.8
    )
    assert math.isinf(row["authors"])
    assert not pd.isna(row["inside"])
    assert not row["inside"]
    # From the last round on, that is after the end of theirs.
    late = ours.assign(elapsed_s=ours["elapsed_s"] + theirs["elapsed_s"].iloc[-1])
    for runs in (late, repeated("fastest", 2)):
        table = beside_ours(split_by_run(runs), scenario()).query("selector == 'fastest'")
        row = of(table, "seconds_to_target", 0.8)
        assert pd.isna(row["inside"])


# The logs behind the figures

#: Runs of logs: rounds in all and simulated seconds in all, mean accuracy at the end in per cent.
ENDS = {
    ("cifar10_small_iid_r1_as_run", "pause"): (300, 156.65, 66.73),
    ("cifar10_small_iid_r1_as_run", "sa_pause_v1"): (300, 178.64, 67.72),
    ("cifar10_small_iid_r1_as_run", "clustered_size"): (300, 264.14, 65.12),
    ("cifar10_small_iid_r2_as_run", "pause"): (300, 153.74, 66.12),
    ("cifar10_small_iid_r2_as_run", "sa_pause_best_gain"): (300, 180.01, 66.47),
    ("cifar10_small_noniid_r1_as_run", "pause"): (400, 225.11, 67.22),
    ("cifar10_small_noniid_r1_as_run", "clustered_size"): (400, 348.72, 13.59),
    ("mnist_large_iid_r1_as_run", "pause"): (360, 200.22, 89.24),
    ("mnist_large_iid_r1_as_run", "fedavg"): (203, 200.33, 9.80),
    ("cifar10_large_noniid_r1_as_run", "pause"): (526, 300.03, 57.57),
    ("cifar10_large_noniid_r2_as_run", "clustered_size"): (318, 300.06, 48.88),
    ("cifar10_large_noniid_r1_cnn5_as_run", "pause"): (716, 400.09, 60.12),
    # Of v1's logs, rounds alone.
    ("mnist_large_iid_r1_v1_as_run", "sa_pause_v1"): (300, 233.10, None),
    ("mnist_large_iid_r1_v1_as_run", "random"): (300, 271.52, None),
    ("cifar10_large_noniid_r1_v1_as_run", "sa_pause_v1"): (500, 367.03, None),
    ("cifar10_large_noniid_r1_v1_as_run", "fastest"): (500, 71.76, None),
}


def beside(name: str, rounds: pd.DataFrame | None = None) -> pd.DataFrame:
    table = beside_ours({} if rounds is None else split_by_run(rounds), scenario(name))
    return table.set_index(["selector", "quantity", "at"]).sort_index()


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return {name: beside(name) for name in LOGGED}


def test_the_ends_of_the_runs_are_those_of_the_logs(tables: dict[str, pd.DataFrame]) -> None:
    for (name, selector), (n_rounds, seconds, accuracy) in ENDS.items():
        found = tables[name]["authors"]
        mean = found[selector, "mean_round_s", n_rounds]
        assert mean == pytest.approx(seconds / n_rounds), (name, selector)
        if accuracy is None:
            assert "accuracy" not in tables[name].index.get_level_values("quantity").str[:8]
        else:
            assert found[selector, "accuracy_end", n_rounds] == pytest.approx(accuracy / 100)


def test_the_leakage_at_the_end_is_compared_where_the_log_tells_it(tables: dict[str, pd.DataFrame]) -> None:
    """The most participations in the whole log, before the last: 57 and 66 in Fig. 2, 218 in Fig. 6."""

    def spent(budget: float, before: int) -> float:
        return budget * (1 - math.exp(-0.04 * (before + 1)))

    small = tables["cifar10_small_iid_r1_as_run"]["authors"]
    assert small["pause", "leakage_end", 300] == pytest.approx(spent(40, 57))
    assert small["random", "leakage_end", 300] == pytest.approx(spent(40, 66))
    assert small["fedavg", "leakage_end", 300] == pytest.approx(spent(40, 299))  # 300 rounds, everyone
    assert "fedavg_no_privacy" not in small.xs("leakage_end", level="quantity").index
    unequal = tables["cifar10_small_noniid_r1_as_run"]["authors"]
    assert unequal["clustered_size", "leakage_end", 400] == pytest.approx(spent(100, 218))
    told = [name for name, table in tables.items() if "leakage_end" in table.index.get_level_values(1)]
    assert {LOGGED[name] for name in told} == {
        "cifar10_small_iid_r1_as_run",
        "cifar10_small_noniid_r1_as_run",
    }


def test_a_log_is_a_table_of_all_rounds_with_straight_lines_between_those_that_were_read() -> None:
    rounds = logged_rounds(scenario("mnist_large_iid_r1_as_run"))
    run = rounds[RunId("mnist_large_iid_r1_as_run", "pause", 0)].set_index("round")
    assert run.index.tolist() == list(range(1, 361))
    assert (run["elapsed_s"].diff().dropna() > 0).all()
    assert run["elapsed_s"][360] == pytest.approx(200.22)
    assert run["accuracy"][[200, 360]].tolist() == pytest.approx([0.8681, 0.8924])  # means of 10 rounds
    low, high = run["accuracy"][[77, 100]]
    assert run["accuracy"][80] == pytest.approx(low + 3 / 23 * (high - low))
    assert run["accuracy"][:9].isna().all()
    assert run["leakage_max"].isna().all()  # the log does not tell the largest
    small = {
        run.selector: table
        for run, table in logged_rounds(scenario("cifar10_small_noniid_r1_as_run")).items()
    }
    assert small["pause"]["leakage_max"].iloc[-1] == pytest.approx(96.9, abs=0.05)
    assert small["sa_pause_v1"]["accuracy"].isna().all()  # 288 rounds on end were not read
