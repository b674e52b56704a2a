"""How long the rest of a workflow takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.workflow.progress import Forecast, Step


def same(n: int, seconds: float = 5.0, rule: str = "job") -> dict[int, Step]:
    """Steps of one rule."""
    return {i: Step(rule, seconds) for i in range(n)}


def run(forecast: Forecast, seconds: dict[int, float]) -> float:
    """Run steps one after the other; the time at the end."""
    now = 0.0
    for number, one in seconds.items():
        forecast.start(number, now)
        now += one
        forecast.finish(number, now)
    return now


def test_before_anything_has_run_the_expectation_counts() -> None:
    assert Forecast(same(10), 1).seconds_left(0) == pytest.approx(50)
    announced = Forecast(same(81), 2).announcement()
    assert announced == "81 steps, about 4 min on 2 cores; a first run also compiles kernels."
    assert Forecast(same(9, rule="figure"), 1).announcement() == "9 steps, about 50 s on 1 core."


def test_cores_share_the_work_and_a_step_on_all_of_them_keeps_them() -> None:
    assert Forecast(same(4, 10.0), 2).seconds_left(0) == 20
    assert Forecast({0: Step("study", 60.0, threads=8)}, 2).seconds_left(0) == 60


def test_what_is_seen_of_a_rule_scales_the_others_of_it_alone() -> None:
    forecast = Forecast(same(100) | {100: Step("figure", 5.0), 101: Step("job", 50.0)}, 1)
    now = run(forecast, {0: 5.0} | dict.fromkeys(range(1, 50), 15.1))
    assert forecast.seconds_left(now) == pytest.approx((50 * 5 + 50) * 2.98, rel=0.02)


def test_what_runs_has_less_before_it_but_never_less_than_nothing() -> None:
    forecast = Forecast(same(2), 1)
    forecast.start(0, 0)
    assert forecast.seconds_left(4) == pytest.approx(6)
    assert forecast.seconds_left(600) == pytest.approx(5)


seconds = st.floats(0.01, 1e4)


@given(st.lists(seconds, min_size=1, max_size=12), st.lists(seconds, max_size=12), st.integers(1, 8))
def test_bounds_of_an_estimate(expected: list[float], took: list[float], cores: int) -> None:
    steps = {n: Step("ab"[n % 2], value) for n, value in enumerate(expected)}
    forecast = Forecast(steps, cores)
    now = run(forecast, dict(zip(range(len(expected)), took, strict=False)))
    left = forecast.seconds_left(now)
    assert (left > 0) == (len(took) < len(expected))
    slowest = max([1.0, *(b / a for a, b in zip(expected, took, strict=False))])
    assert left <= sum(expected) / cores * slowest * 1.001


def test_a_step_that_is_not_of_the_plan_is_left_out() -> None:
    forecast = Forecast(same(2), 1)
    forecast.start(7, 0)
    forecast.finish(7, 100)
    assert forecast.seconds_left(100) == 10
