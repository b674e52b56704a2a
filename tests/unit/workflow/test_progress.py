"""How long the rest of a workflow takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.workflow.progress import Forecast, Step, announcement


def same(n: int, seconds: float = 5.0, rule: str = "job") -> dict[int, Step]:
    """Steps of one rule that wait for nothing."""
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
    assert announcement(same(81), 2) == "81 steps, about 4 min on 2 cores; a first run also compiles kernels."
    assert announcement(same(9, rule="figure"), 1) == "9 steps, about 50 s on 1 core."


def test_cores_share_the_work_but_not_a_chain() -> None:
    steps = {n: Step("job", 10.0, after=frozenset([n - 1] if n else [])) for n in range(4)}
    assert Forecast(steps, 1).seconds_left(0) == Forecast(steps, 2).seconds_left(0) == 40
    assert Forecast(same(4, 10.0), 2).seconds_left(0) == 20 + 5


def test_a_step_on_all_cores_keeps_them() -> None:
    assert Forecast({0: Step("study", 60.0, threads=8)}, 2).seconds_left(0) == 60 + 30
    assert Forecast({0: Step("study", 60.0, threads=2)}, 2).seconds_left(0) == 60 + 30


def test_a_first_step_that_compiles_for_minutes_says_little_of_the_others() -> None:
    forecast = Forecast(same(60), 2)
    forecast.start(0, 0)
    forecast.start(1, 0)
    for number in (0, 1):
        forecast.finish(number, 220)
    assert forecast.seconds_left(220) < 2 * Forecast(same(58), 2).seconds_left(0)


def test_a_first_step_that_is_long_itself_does_count() -> None:
    forecast = Forecast(same(20, 1500.0), 1)
    now = run(forecast, {0: 3000.0})
    assert forecast.seconds_left(now) > 1.3 * 19 * 1500


def test_what_is_seen_of_a_rule_scales_the_others_of_it() -> None:
    forecast = Forecast(same(100), 1)
    now = run(forecast, {0: 5.0} | dict.fromkeys(range(1, 51), 15.0))
    assert forecast.seconds_left(now) == pytest.approx(49 * 15, rel=0.05)


def test_a_slow_machine_is_slow_for_other_rules_too() -> None:
    forecast = Forecast(same(50) | {50: Step("figure", 5.0)}, 1)
    now = run(forecast, dict.fromkeys(range(50), 15.0))
    assert forecast.seconds_left(now) > 10


def test_one_second_before_the_end_of_a_short_run_it_says_seconds() -> None:
    """A run of 38 s of which the first step compiled for 25 s."""
    forecast = Forecast({n: Step("job", 5.0, after=frozenset({0} if n else ())) for n in range(8)}, 1)
    now = run(forecast, {0: 25.0} | dict.fromkeys(range(1, 7), 1.7))
    forecast.start(7, now)
    assert forecast.seconds_left(now + 0.7) < 10


def test_a_step_that_is_late_is_not_said_to_be_done_at_once() -> None:
    forecast = Forecast(same(1), 1)
    forecast.start(0, 0)
    assert forecast.seconds_left(4) == pytest.approx(1)
    assert forecast.seconds_left(600) == pytest.approx(60)


seconds = st.floats(0.01, 1e4)


@given(st.lists(seconds, min_size=1, max_size=12), st.lists(seconds, max_size=12), st.integers(1, 8))
def test_bounds_of_an_estimate(expected: list[float], took: list[float], cores: int) -> None:
    steps = {n: Step("ab"[n % 2], value) for n, value in enumerate(expected)}
    forecast = Forecast(steps, cores)
    now = run(forecast, dict(zip(range(len(expected)), took, strict=False)))
    left = forecast.seconds_left(now)
    assert left >= 0
    assert (left == 0) == (len(took) >= len(expected))
    assert left <= sum(expected) * max([1.0, *(b / a for a, b in zip(expected, took, strict=False))]) * 1.001


@given(st.lists(seconds, min_size=2, max_size=12), st.integers(0, 11), seconds, st.integers(1, 8))
def test_more_work_never_takes_less_time(expected: list[float], which: int, more: float, cores: int) -> None:
    which %= len(expected)
    longer = [value + more * (n == which) for n, value in enumerate(expected)]
    left = [
        Forecast({n: Step("job", value) for n, value in enumerate(values)}, cores).seconds_left(0)
        for values in (expected, longer, expected[:-1])
    ]
    assert left[1] >= left[0] >= left[2]


def test_a_step_that_is_not_of_the_plan_is_left_out() -> None:
    forecast = Forecast(same(2), 1)
    forecast.start(7, 0)
    forecast.finish(7, 100)
    assert forecast.seconds_left(100) == 10
