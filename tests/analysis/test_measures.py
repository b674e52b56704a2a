"""Speed, budget and their parts: by hand, on made-up rounds, and the front by enumeration."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.analysis import measures
from pausefl.privacy.schedule import GeometricSchedule

#: Three users; two of them take part in each round, user 0 in all.
SELECTIONS = [[0, 1], [0, 1], [0, 2], [0, 1], [0, 1], [0, 2]]
SCHEDULE = GeometricSchedule(10.0, 0.5)


def rounds(accuracy: list[float], seconds: float = 2.0) -> pd.DataFrame:
    """Rounds of some seconds, each with the accuracy of a model and what users have spent."""
    n = len(accuracy)
    table = pd.DataFrame({"round": range(1, n + 1), "accuracy": accuracy})
    counts = np.array(
        [[sum(k in users for users in SELECTIONS[: t + 1]) for k in range(3)] for t in range(n)]
    )
    spent = SCHEDULE.spent(counts)
    return table.assign(
        elapsed_s=seconds * table["round"],
        selection=[np.array(users) for users in SELECTIONS[:n]],
        leakage_max=spent.max(axis=1),
        leakage_mean=spent.mean(axis=1),
    )


def test_a_run_is_measured_within_the_time() -> None:
    # Trailing means: 0.2, 0.5, 0.6, 0.65, 0.68, 0.7.
    run = rounds([0.2, 0.8, 0.8, 0.8, 0.8, 0.8])
    found = measures.measure(run, 9.0, 3, SCHEDULE, targets=(0.6, 0.7), budgets=(6.0, 9.0))
    assert (found["n_rounds"], found["mean_round_s"]) == (4, 2.0)
    assert found["accuracy"] == pytest.approx((0.65 + 0.68) / 2)
    assert (found["seconds_to_60"], found["rounds_to_60"]) == (6.0, 3.0)
    assert math.isnan(found["seconds_to_70"])  # reached after 12 s
    assert math.isnan(found["rounds_to_70"])
    assert (found["participations"], found["unevenness"]) == (
        pytest.approx(8 / 3),
        pytest.approx(4 / (8 / 3)),
    )
    assert found["spent_max"] == pytest.approx(SCHEDULE.spent(np.array([4]))[0])
    assert found["spent_mean"] == pytest.approx(SCHEDULE.spent(np.array([4, 3, 1])).mean())
    assert found["spent_even"] == pytest.approx(SCHEDULE.spent(np.array([3]))[0])
    # Spent 3.9, 6.3, 7.8 and 8.6 after rounds 1 to 4: 6 is exceeded in round 2, 9 not at all.
    assert found["accuracy_at_6"] == pytest.approx(0.2)
    assert math.isnan(found["accuracy_at_9"])


def test_what_a_run_had_when_it_ended_stays() -> None:
    run = rounds([0.2, 0.8, 0.8, 0.8, 0.8, 0.8])
    found = measures.measure(run, 100.0, 3, None)
    assert found["accuracy"] == pytest.approx(0.7)
    assert (found["seconds_to_70"], found["n_rounds"]) == (12.0, 6)
    assert found["spent_even"] == math.inf


def test_a_budget_that_the_first_round_exceeds_has_no_accuracy() -> None:
    assert math.isnan(measures.accuracy_at_budget(rounds([0.5, 0.6]), 1.0))


def runs(values: dict[str, list[tuple[float, float, float]]]) -> pd.DataFrame:
    """Runs with a time to 80 %, a largest budget spent and an accuracy, by selector and seed."""
    return pd.DataFrame(
        {
            "selector": name,
            "seed": seed,
            "seconds_to_80": time,
            "rounds_to_80": time / 2,
            "spent_max": spent,
            "accuracy": accuracy,
        }
        for name, rows in values.items()
        for seed, (time, spent, accuracy) in enumerate(rows)
    )


def test_a_seed_that_misses_a_target_is_later_than_all_others() -> None:
    made = runs(
        {"pause": [(10, 1, 0.9), (math.nan, 1, 0.7), (30, 1, 0.8)], "random": [(math.nan, 1, 0.6)] * 3}
    )
    pause, random = measures.across(made, "pause", 0.8).to_dict("records")
    assert (pause["seconds_to_80_median"], pause["seconds_to_80_n"]) == (30, 2)
    assert (random["seconds_to_80_median"], random["seconds_to_80_n"]) == (math.inf, 0)
    gaps = np.array([-0.3, -0.1, -0.2])
    half = 4.303 * gaps.std(ddof=1) / math.sqrt(3)  # Student's t of two degrees of freedom
    assert random["difference"] == pytest.approx(-0.2)
    assert (random["difference_low"], random["difference_high"]) == pytest.approx(
        (-0.2 - half, -0.2 + half), rel=1e-3
    )
    text = measures.speed_table(
        measures.across(made, "pause", 0.8).assign(
            mean_round_s_mean=1.0, mean_round_s_sd=0.1, n_rounds_mean=9.0, n_rounds_sd=1.0
        ),
        {"pause": "PAUSE", "random": "Random"},
        "pause",
        50.0,
        0.8,
    )
    assert "| PAUSE | 80.0 ± 10.0 | – | 30.0 (2 of 3) | 15 (2 of 3) |" in text
    assert "| Random | 60.0 ± 0.0 | −20.0 (−44.8 to +4.8) | not reached |" in text


@pytest.mark.parametrize("private", [True, False])
def test_the_front_is_that_of_all_samples_of_seeds(private: bool) -> None:
    """Shares of three seeds by enumeration of all 27 samples; 1,000 drawn ones come near."""
    rng = np.random.default_rng(1)
    values: dict[str, Any] = {
        name: [
            (float(t), float(s) if private else math.inf, float(a)) for t, s, a in rng.normal(5, 1, (3, 3))
        ]
        for name in "abcd"
    }
    values["d"] = [(math.nan, *values["a"][0][1:])] * 3
    expected = dict.fromkeys(values, 0.0)
    for sample in product(range(3), repeat=3):
        worth = {}
        for name, rows in values.items():
            time, spent, accuracy = zip(*(rows[i] for i in sample), strict=True)
            median = sorted(math.inf if math.isnan(one) else one for one in time)[1]
            worth[name] = (-median, sum(accuracy) / 3, -sum(spent) / 3 if private else 0.0)
        for name, own in worth.items():
            beaten = any(
                all(x >= y for x, y in zip(other, own, strict=True)) and other != own
                for other in worth.values()
            )
            expected[name] += (not beaten) / 27
    shares = measures.front_shares(runs(values), 0.8)
    assert shares == pytest.approx(expected, abs=0.06)


def test_a_run_without_accuracy_or_budget_is_behind_all_others() -> None:
    shares = measures.front_shares(
        runs({"pause": [(10, 1, 0.9), (20, 1, 0.9)], "random": [(30, 2, math.nan), (30, math.nan, 0.9)]}), 0.8
    )
    assert shares == {"pause": 1.0, "random": 0.0}


def test_only_selectors_of_the_most_seeds_are_ranked() -> None:
    made = runs({"pause": [(10, 1, 0.9), (20, 1, 0.9)], "random": [(5, 1, 0.95)]})
    assert measures.front_shares(made, 0.8) == {"pause": 1.0}
    assert measures.front_shares(made[made["seed"] == 0], 0.8) == {}


@pytest.mark.parametrize("losses", ["accounted", "unaccounted"])
def test_who_looks_at_losses_under_a_budget_is_on_no_front(losses: str) -> None:
    made = runs({"pause": [(10, 1, 0.9), (20, 1, 0.9)], "oort": [(5, 1, 0.95), (5, 1, 0.95)]})
    made["losses"] = [losses if name == "oort" else None for name in made["selector"]]
    unranked = measures.unranked(made)
    assert "oort" in unranked
    assert "pause" not in unranked
