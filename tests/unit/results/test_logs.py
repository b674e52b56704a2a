"""The logs behind the authors' figures: their numbers, and how ours are compared with them."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from pausefl.results.authors_archive import LOGGED, beside_ours, logged_rounds
from pausefl.settings import Scenario, load_scenario

ROOT = Path(__file__).parents[3]

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


def scenario(name: str = "mnist_large_iid_r1_as_run") -> Scenario:
    return load_scenario(name, ROOT / "config" / "scenarios")


def beside(name: str, rounds: pd.DataFrame | None = None) -> pd.DataFrame:
    table = beside_ours(pd.DataFrame() if rounds is None else rounds, scenario(name))
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
    rounds = logged_rounds(load_scenario("mnist_large_iid_r1_as_run", ROOT / "config/scenarios"))
    run = rounds[rounds["selector"] == "pause"].set_index("round")
    assert run.index.tolist() == list(range(1, 361))
    assert (run["elapsed_s"].diff().dropna() > 0).all()
    assert run["elapsed_s"][360] == pytest.approx(200.22)
    assert run["accuracy"][[200, 360]].tolist() == pytest.approx([0.8681, 0.8924])  # means of 10 rounds
    low, high = run["accuracy"][[77, 100]]
    assert run["accuracy"][80] == pytest.approx(low + 3 / 23 * (high - low))
    assert run["accuracy"][:9].isna().all()
    assert run["leakage_max"].isna().all()  # the log does not tell the largest
    small = logged_rounds(
        load_scenario("cifar10_small_noniid_r1_as_run", ROOT / "config/scenarios")
    ).set_index("selector")
    assert small.loc["pause", "leakage_max"].iloc[-1] == pytest.approx(96.9, abs=0.05)
    assert small.loc["sa_pause_v1", "accuracy"].isna().all()  # 288 rounds on end were not read
