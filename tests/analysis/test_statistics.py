"""Decisions on gaps, against the tests of scipy and against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pausefl.analysis.statistics import (
    FAILS,
    HOLDS,
    LEVEL,
    UNDECIDED,
    gaps,
    holm_adjusted,
    judge,
    judge_share,
    judge_slope,
    region,
)

SAMPLES = np.random.default_rng(0).normal(-0.3, 0.5, (200, 5))


def test_a_one_sided_region_is_decided_by_a_t_test() -> None:
    for values in SAMPLES:
        test, decision = stats.ttest_1samp(values, 0), judge(values, -math.inf, 0.0)
        low, high = test.confidence_interval(0.95)
        assert decision.gap == pytest.approx((values.mean(), low, high))
        assert decision.p == pytest.approx(test.pvalue)
        assert decision.outcome == (HOLDS if high < 0 else FAILS if low > 0 else UNDECIDED)


def test_equivalence_is_decided_by_two_one_sided_tests() -> None:
    for values in SAMPLES:
        low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        decision = judge(values, -0.5, 0.5)
        inside, outside = low > -0.5 and high < 0.5, high < -0.5 or low > 0.5
        assert decision.outcome == (HOLDS if inside else FAILS if outside else UNDECIDED)
        if inside:
            pair = (
                stats.ttest_1samp(values, limit, alternative=side).pvalue
                for limit, side in ((-0.5, "greater"), (0.5, "less"))
            )
            assert decision.p == pytest.approx(2 * max(pair))


@pytest.mark.parametrize(
    ("direction", "inside", "outside"),
    [
        ("lower", -1.5, -0.5),
        ("higher", 1.5, 0.5),
        ("not higher", 0.5, 1.5),
        ("not lower", -0.5, -1.5),
        ("equal", -0.5, 1.5),
    ],
)
def test_regions_of_a_margin_of_1(direction: str, inside: float, outside: float) -> None:
    low, high = region(direction, 1.0, ratio=False)
    assert low < inside < high
    assert not low < outside < high


@pytest.mark.parametrize("direction", ["lower", "higher", "not higher", "not lower", "equal"])
def test_the_margin_of_a_ratio_is_its_distance_from_1(direction: str) -> None:
    ends = {
        round(math.exp(limit), 9) for limit in region(direction, 0.25, ratio=True) if math.isfinite(limit)
    }
    assert ends <= {0.75, 0.8, 1.25}  # of equality 4/5 to 5/4, alike in both directions
    assert ends


def test_one_seed_shows_a_gap_and_decides_nothing() -> None:
    decision = judge([-2.0], -math.inf, -1.0)
    assert (decision.outcome, decision.gap.mean) == (UNDECIDED, -2.0)
    assert math.isnan(decision.p)


def test_a_gap_that_is_only_bounded_is_tested_on_its_worse_bound() -> None:
    """The others needed more than 3 s, or exactly 3 s: the ratio is at most 1/3 in both cases."""
    ours, ended = [1.0, 1.1, 1.05], np.array([[3.0, math.inf], [3.0, 3.0], [3.0, math.inf]])
    decision = judge(gaps(ours, ended, ratio=True), *region("lower", 0.0, ratio=True))
    assert (decision.outcome, decision.bound) == (HOLDS, "at most")
    assert math.exp(decision.gap.mean) == pytest.approx(np.prod(ours) ** (1 / 3) / 3)
    back = judge(gaps(ended, ours, ratio=True), *region("lower", 0.0, ratio=True))
    assert (back.outcome, back.bound) == (FAILS, "at least")


def test_of_one_who_never_arrives_the_end_counts_in_what_is_shown_and_its_sign_in_what_is_decided() -> None:
    ours, theirs = np.array([[1.0, 1.0]] * 9 + [[8.0, math.inf]]), np.full(10, 2.0)
    decision = judge(gaps(ours, theirs, ratio=True), *region("lower", 0.0, ratio=True))
    assert (decision.outcome, decision.bound) == (HOLDS, "at least")
    assert decision.p == pytest.approx(stats.binomtest(9, 10, alternative="greater").pvalue * 2)
    assert math.exp(decision.gap.mean) == pytest.approx((0.5**9 * 4) ** 0.1)
    assert math.isnan(decision.gap.low)
    back = judge(gaps(theirs, ours, ratio=True), *region("higher", 0.0, ratio=True))
    assert (back.outcome, back.bound) == (HOLDS, "at most")


def test_a_gap_of_which_some_seeds_know_no_bound_is_not_that_of_the_others() -> None:
    """PAUSE diverges under two of three seeds; under the third it is the better one."""
    decision = judge(
        gaps([0.8, math.inf, math.inf], np.ones(3), ratio=True), *region("lower", 0.0, ratio=True)
    )
    assert decision.outcome == UNDECIDED
    assert np.isnan(decision.gap).all()
    assert not decision.bound


@pytest.mark.parametrize("n", range(2, 12))
def test_without_a_bound_signs_decide(n: int) -> None:
    never = np.full(n, math.inf)
    decision = judge(gaps(np.ones(n), never, ratio=True), *region("lower", 0.0, ratio=True))
    assert decision.p == pytest.approx(stats.binomtest(n, n).pvalue)
    assert decision.outcome == (HOLDS if n >= 6 else UNDECIDED)
    both = judge(gaps(never, never, ratio=True), *region("lower", 0.0, ratio=True))
    assert both.outcome == UNDECIDED


def test_a_slope_is_decided_by_the_t_test_of_a_regression() -> None:
    x = np.arange(8.0)
    for noise in np.random.default_rng(1).normal(0, 0.3, (50, 8)):
        fit = stats.linregress(x, 0.1 * x + noise)
        decision = judge_slope(fit.slope, fit.stderr, len(x) - 2, 0.0, math.inf)
        assert decision.p == pytest.approx(fit.pvalue)
        assert decision.outcome == (UNDECIDED if fit.pvalue >= 0.05 else HOLDS if fit.slope > 0 else FAILS)


@pytest.mark.parametrize(("won", "n"), [(10, 10), (95, 100), (983, 1000), (960, 1000), (550, 1000), (0, 9)])
def test_a_share_is_decided_by_wilsons_interval(won: int, n: int) -> None:
    decision, interval = judge_share(won, n, 0.95), stats.binomtest(won, n).proportion_ci(method="wilson")
    assert decision.gap == pytest.approx((won / n, interval.low, interval.high))
    assert decision.outcome == (
        HOLDS if interval.low >= 0.95 else FAILS if interval.high < 0.95 else UNDECIDED
    )
    assert (decision.p < 0.05) == (decision.outcome != UNDECIDED)


@given(st.lists(st.sampled_from([0.001, 0.009, 0.011, 0.014, 0.02, 0.03, 0.06, 0.5]), max_size=6))
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """A hypothesis is rejected if Bonferroni rejects every set of hypotheses that has it."""
    n = len(p_values)
    sets = [of for size in range(1, n + 1) for of in itertools.combinations(range(n), size)]
    refused = [min(p_values[i] for i in of) < 0.05 / len(of) for of in sets]
    assert list(holm_adjusted(p_values) < LEVEL) == [
        all(r for of, r in zip(sets, refused, strict=True) if i in of) for i in range(n)
    ]
