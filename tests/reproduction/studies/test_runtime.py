"""Times are taken within the budget, and fits find the growth that is there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pausefl.reproduction.studies import runtime
from pausefl.reproduction.studies.runtime import Runtime
from pausefl.settings import Scenario

SIZES = np.array([10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000])


def study_of(demo: Scenario, selectors: tuple[str, ...], sizes: tuple[int, ...], budget_s: float) -> Runtime:
    selection = demo.selection.replace(n_iterations=20_000)
    scenario = demo.replace(selectors=selectors, selection=selection)
    return Runtime(title="", scenario=scenario, n_users=sizes, selected_share=0.5, budget_s=budget_s)


def test_enumeration_stops_at_its_refusal(demo: Scenario) -> None:
    notes: list[str] = []
    large = demo.replace(network=demo.network.replace(n_users=300, n_selected=15))  # itself far too large
    times = study_of(large, ("pause_brute", "pause"), (40, 6, 10, 60), 0.05).compute(notes.append)[
        "times.csv"
    ]
    sizes = times.groupby("selector")["n_users"].apply(list)
    assert sizes.to_dict() == {"pause_brute": [6, 10], "pause": [6, 10, 40, 60]}
    assert len(notes) == 1
    assert notes[0].startswith("pause_brute stops before 40 users: pause_brute would enumerate 1.38e+11")
    assert (times["min_s"] <= times["median_s"]).all()
    assert times[["iteration_s", "listing_s", "n_listed"]].isna().all(axis=None)


def fits(median_s: Any, sizes: Any = SIZES, **columns: Any) -> pd.DataFrame:
    """Fits of the times of one selector, by quantity."""
    known = {"iteration_s": math.nan, "listing_s": math.nan, "n_listed": math.nan, "sort_s": math.nan}
    table = {"selector": "pause", "n_users": sizes, "median_s": median_s} | known | columns
    return runtime.fits(pd.DataFrame(table)).set_index("quantity")


def test_sizes_that_a_fit_leaves_out_are_not_counted() -> None:
    sizes = np.array([10, 20, 40, 80, 160])
    fit = fits([1.0, 3.2, 2.9, 6.5, 12.0], sizes).loc["selection"]  # the third is too near to the overhead
    assert (fit["from_users"], fit["to_users"], fit["n_sizes"]) == (20, 160, 3)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_a_power_is_recovered_from_the_largest_sizes(exponent: float) -> None:
    # A sort is fitted to the same sizes, an iteration where it is known.
    sort_s = np.where(SIZES < 1000, 1.0, 1e-9 * SIZES**1.2)
    iteration_s = np.where(SIZES < 30_000, 1e-9 * SIZES, np.nan)
    table = fits(1e-9 * SIZES**exponent, sort_s=sort_s, iteration_s=iteration_s)
    fit = table.loc["selection"]
    assert (fit["from_users"], fit["to_users"]) == (1000, 100_000)
    assert (fit["exponent"], fit["over_sort"]) == pytest.approx((exponent, exponent - 1.2))
    assert fit["exponent_error"] < 1e-9 < fit["rate_error"]
    assert table.loc["iteration", ["from_users", "to_users"]].tolist() == [1000, 10_000]
    assert table.loc["iteration", "exponent"] == pytest.approx(1)


def test_an_exponential_is_told_from_a_power() -> None:
    sizes = np.array([10, 20, 30, 40, 50])
    fit = fits(1e-6 * np.exp(0.3 * sizes), sizes).loc["selection"]
    assert fit["rate"] == pytest.approx(0.3)
    assert fit["rate_error"] < 1e-9 < fit["exponent_error"]
    assert math.isnan(fit["over_sort"])


def test_standard_errors_are_those_of_least_squares() -> None:
    x, y = np.array([0.0, 1, 2, 4, 7]), np.array([1.0, 2, 2, 5, 6])
    fit = stats.linregress(x, y)
    assert runtime.line(x, y)[:2] == pytest.approx((fit.slope, fit.stderr))
