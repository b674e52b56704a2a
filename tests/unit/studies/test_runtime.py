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
    times = runtime.run(study, notes.append)
    sizes = times.groupby("selector")["n_users"].apply(list)
    assert sizes.to_dict() == {"pause_brute": [6, 10], "pause": [6, 10, 40, 60]}
    assert len(notes) == 1
    assert notes[0].startswith("pause_brute stops before 40 users: pause_brute would enumerate 1.38e+11")
    assert (times["min_s"] <= times["median_s"]).all()
    assert times["n_repetitions"].between(*runtime.REPETITIONS).all()
    assert times["iteration_s"].isna().all()


def test_an_annealers_iterations_are_timed(demo: Scenario) -> None:
    times = runtime.run(study_of(demo, ("sa_pause",), (12, 24), budget_s=0.05))
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


def test_sizes_of_mostly_overhead_are_left_out_of_fits() -> None:
    times = np.where(SIZES < 10_000, 1e-5, 1e-9 * SIZES**2)
    (fit,) = runtime.fits(times_of(times)).to_dict("records")
    assert (fit["from_users"], fit["exponent"]) == (10_000, pytest.approx(2))
    assert fit["exponent_se"] == pytest.approx(0, abs=1e-9)


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


def test_memory_is_that_of_the_largest_size(demo: Scenario) -> None:
    (row,) = runtime.memory(study_of(demo, ("sa_pause",), (10, 50))).to_dict("records")
    assert (row["selector"], row["n_users"], row["n_selected"]) == ("pause", 50, 25)
    assert 0 < row["before_bytes"] <= row["peak_bytes"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.0, "2 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 µs"), (7e-8, "70 ns"), (math.nan, "–")],
)
def test_pretty(seconds: float, text: str) -> None:
    assert runtime.pretty(seconds) == text


def test_the_page_has_times_growth_and_the_papers_orders() -> None:
    times = pd.concat(
        [
            times_of(1e-7 * SIZES**1.1),
            times_of(1e-6 * SIZES[:3] ** 2.0, SIZES[:3], 1e-8).assign(selector="sa_vanilla"),
        ]
    )
    memory = pd.DataFrame(
        [{"selector": "pause", "n_users": 10, "n_selected": 1, "before_bytes": 3e8, "peak_bytes": 5e8}]
    )
    text = runtime.to_markdown(times, runtime.fits(times), memory)
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert ["K", "m", "PAUSE", "PAUSE by plain SA"] in lines
    assert ["1,000", "100", "200 µs", "–"] in lines
    assert ["10", "1", "10 ns"] in lines
    growth = {line[0]: line for line in lines if len(line) == 7}
    assert growth["PAUSE"][3::3] == ["**1.10 ± 0.00**", "O(K log K)"]
    assert "500 MB of memory at its peak" in " ".join(text.split())
    plain = runtime.to_markdown(times_of(1e-3, SIZES[:2]), runtime.fits(times_of(1e-3)), memory)
    assert "One iteration" not in plain
    assert "Growth" not in plain


def test_an_iteration_that_lists_grows_with_what_it_lists(demo: Scenario) -> None:
    study = study_of(demo, ("sa_pause", "sa_vanilla", "pause"), (20, 40), budget_s=0.2)
    study = study.replace(
        scenario=study.scenario.replace(selection=study.scenario.selection.replace(n_iterations=200))
    )
    times = runtime.run(study).set_index(["selector", "n_users"])
    assert times.loc["sa_vanilla", "n_listed"].tolist() == [100, 400]
    thin = times.loc["sa_pause", "n_listed"]
    assert (thin >= [10, 20]).all()
    assert (thin < [100, 400]).all()
    assert (times.loc[["sa_pause", "sa_vanilla"], "listing_s"].dropna() > 0).all()
    assert times.loc["pause", ["listing_s", "n_listed"]].isna().all(axis=None)


def test_too_many_neighbours_are_counted_and_not_listed(
    demo: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "MOST_LISTED", 99)
    times = runtime.run(study_of(demo, ("sa_vanilla",), (18, 20), budget_s=0.2)).set_index("n_users")
    assert times["n_listed"].tolist() == [81, 100]
    assert times["listing_s"].isna().tolist() == [False, True]


def test_growth_of_listing_is_fitted_to_its_own_largest_sizes() -> None:
    listing = np.where(SIZES <= 3000, 1e-9 * SIZES**2.0, np.nan)
    times = times_of(1e-6 * SIZES**1.0).assign(listing_s=listing, n_listed=0.09 * SIZES**2.0)
    fits = runtime.fits(times).set_index("quantity")
    assert fits.loc[["listing", "listed"], "exponent"].tolist() == pytest.approx([2, 2])
    assert fits.loc["listing", ["from_users", "to_users"]].tolist() == [30, 3000]
    assert fits.loc["listed", ["from_users", "to_users"]].tolist() == [1000, 100_000]
