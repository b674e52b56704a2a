"""Times are taken within the budget, and fits find the growth that is there."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.bandit.history import History
from pausefl.selectors.base import Selector
from pausefl.settings import Scenario
from pausefl.studies import runtime
from pausefl.studies.runtime import Runtime

SIZES = np.array([10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000])


def study_of(demo: Scenario, selectors: tuple[str, ...], sizes: tuple[int, ...], **changes: Any) -> Runtime:
    selection = demo.selection.replace(n_iterations=20_000)
    scenario = demo.replace(selectors=selectors, selection=selection)
    return Runtime(
        title="", scenario=scenario, n_users=sizes, **({"selected_share": 0.5, "budget_s": 10.0} | changes)
    )


def times_of(median_s: Any, sizes: Any = SIZES, iteration_s: Any = math.nan) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "selector": "pause",
            "n_users": sizes,
            "n_selected": np.maximum(1, sizes // 10),
            "median_s": median_s,
            "iteration_s": iteration_s,
            **dict.fromkeys(("listing_s", "n_listed", "sort_s"), math.nan),
        }
    )


class Sleeper(Selector):
    """Lets a clock of its own go on by a given time with each selection."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.seconds, self.clock, self.first_draws = seconds, 0.0, list[float]()
        monkeypatch.setattr(time, "perf_counter", lambda: self.clock)

    def __call__(self, history: History, rng: np.random.Generator) -> Any:
        self.clock += self.seconds
        self.first_draws.append(rng.random())


@pytest.mark.parametrize(("seconds", "n"), [(0.001, 200), (0.25, 4), (0.9, 3), (1.5, 1)])
def test_repetitions_stay_within_budget(
    monkeypatch: pytest.MonkeyPatch, demo: Scenario, seconds: float, n: int
) -> None:
    history = runtime.history_of(runtime.sized(study_of(demo, ("pause",), (4, 6)), 6))
    sleeper = Sleeper(monkeypatch, seconds)
    assert runtime.seconds(sleeper, history, 1.0) == pytest.approx([seconds] * n)
    assert len(set(sleeper.first_draws)) == n


def test_everyone_took_part_in_a_sampled_history(demo: Scenario) -> None:
    study = study_of(demo, ("pause",), (4, 2000), selected_share=0.001)
    history = runtime.history_of(runtime.sized(study, 2000))
    assert (history.n_selected, len(history.participations)) == (2, 2000)
    assert history.participations.min() == 1
    assert history.participations.max() < history.round
    assert runtime.sized(study, 4).network.n_selected == 1


def test_enumeration_stops_at_its_refusal(demo: Scenario) -> None:
    notes: list[str] = []
    network = demo.network.replace(n_users=300, n_selected=15)  # itself far too large
    large = demo.replace(network=network)
    study = study_of(large, ("pause_brute", "pause"), (40, 6, 10, 60))
    times = study.compute(notes.append)["times.csv"]
    sizes = times.groupby("selector")["n_users"].apply(list)
    assert sizes.to_dict() == {"pause_brute": [6, 10], "pause": [6, 10, 40, 60]}
    assert len(notes) == 1
    assert notes[0].startswith("pause_brute stops before 40 users: pause_brute would enumerate 1.38e+11")
    assert (times["min_s"] <= times["median_s"]).all()
    assert times["n_repetitions"].between(*runtime.REPETITIONS).all()
    assert times["iteration_s"].isna().all()


def test_an_annealers_iterations_are_timed(demo: Scenario) -> None:
    times = study_of(demo, ("sa_pause",), (12, 24), budget_s=0.05).compute(print)["times.csv"]
    assert (times["iteration_s"] > 0).all()
    assert (times["iteration_s"] * 20_000 < times["median_s"]).all()
    assert (times["sort_s"] > 0).all()
    assert (times["sort_s"] < times["median_s"]).all()


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_a_power_is_recovered_from_the_largest_sizes(exponent: float) -> None:
    (fit,) = runtime.fits(times_of(1e-9 * SIZES**exponent)).to_dict("records")
    assert (fit["from_users"], fit["to_users"]) == (1000, 100_000)
    assert fit["exponent"] == pytest.approx(exponent)
    assert fit["exponent_error"] < 1e-9 < fit["rate_error"]


def test_growth_over_a_sort_is_fitted_to_the_same_sizes() -> None:
    times = times_of(1e-8 * SIZES**1.3).assign(sort_s=np.where(SIZES < 1000, 1.0, 1e-9 * SIZES**1.2))
    (fit,) = runtime.fits(times).to_dict("records")
    assert fit["over_sort"] == pytest.approx(0.1)
    assert fit["over_sort_se"] == pytest.approx(0, abs=1e-9)
    assert runtime.fits(times_of(1e-8 * SIZES**1.3))["over_sort"].isna().all()


def test_an_exponential_is_told_from_a_power() -> None:
    sizes = np.array([10, 20, 30, 40, 50])
    (fit,) = runtime.fits(times_of(1e-6 * np.exp(0.3 * sizes), sizes)).to_dict("records")
    assert fit["rate"] == pytest.approx(0.3)
    assert fit["rate_error"] < 1e-9 < fit["exponent_error"]


def test_iterations_are_fitted_where_they_are_known() -> None:
    iteration = np.where(SIZES < 30_000, 1e-9 * SIZES, np.nan)
    fits = runtime.fits(times_of(1e-6 * SIZES**1.0, iteration_s=iteration)).set_index("quantity")
    assert fits.loc["iteration", ["from_users", "to_users"]].tolist() == [1000, 10_000]
    assert fits.loc["iteration", "exponent"] == pytest.approx(1)


def test_standard_errors_are_those_of_least_squares() -> None:
    stats = pytest.importorskip("scipy.stats")
    x, y = np.array([0.0, 1, 2, 4, 7]), np.array([1.0, 2, 2, 5, 6])
    fit = stats.linregress(x, y)
    slope, error, _ = runtime.line(x, y)
    assert (slope, error) == pytest.approx((fit.slope, fit.stderr))
