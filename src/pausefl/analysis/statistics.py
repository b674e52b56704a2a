"""Paired gaps over seeds: mean, interval, p-value, and whether the mean lies where a claim wants it.

Selectors under one seed share data, latencies and noise, so gaps are taken seed by seed. The interval is
Student's at level `CONFIDENCE`: with five seeds, 1.24 standard deviations to either side. One seed has none
and decides nothing.

p-values are those of one-sided t tests of the mean gap against a limit of the wanted region, times two, so
that p < 0.05 exactly where the interval clears the limit. A region with two limits (equivalence) takes both
tests, and the larger p. A gap may be known only to lie between two bounds, because a run ended before it
could tell. Each side is then tested on its less favourable bound. Where that is infinite in some seed, only
the seeds that are certainly inside, or outside, count: a sign test, which cannot decide with fewer than six
seeds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.analysis.intervals import CONFIDENCE, Estimate, estimate, t_quantile, wilson

Floats = NDArray[np.float64]

#: Largest p-value of a decided comparison.
LEVEL = 1 - CONFIDENCE

#: Outcomes of a comparison.
HOLDS, FAILS, UNDECIDED, NOT_RUN = "holds", "fails", "undecided", "not run"

#: A smaller gap is rounding, differs between machines, and is written as 0.
ROUNDING = 1e-12


class Decision(NamedTuple):
    """An outcome, the estimate of the gap, what kind of bound that is, and the p-value of the outcome."""

    outcome: str
    gap: Estimate
    bound: str = ""
    p: float = math.nan


def gaps(ours: ArrayLike, theirs: ArrayLike, ratio: bool) -> Floats:
    """Bounds (n, 2) of paired differences, or of logarithms of ratios.

    Values are bounds (n, 2), or (n,) where they are known. One may be infinite: a loss after divergence. The
    gap of two infinite values may be anything.
    """
    ours, theirs = _bounds(ours), _bounds(theirs)
    with np.errstate(divide="ignore", invalid="ignore"):
        if ratio:
            ours, theirs = np.log(ours), np.log(theirs)
        bounds = ours - theirs[:, ::-1]
    return np.where(np.isnan(bounds), [-math.inf, math.inf], bounds)


def _bounds(values: ArrayLike) -> Floats:
    """Bounds (n, 2) of values (n,) that are known, or of bounds (n, 2)."""
    values = np.asarray(values, np.float64)
    return values if values.ndim == 2 else np.column_stack([values, values])


def region(direction: str, margin: float, ratio: bool) -> tuple[float, float]:
    """Open interval in which the mean gap should lie; logarithms for ratios.

    ``direction``: ``lower`` or ``higher`` by more than the margin; ``not higher`` or ``not lower`` by as much
    as it; ``equal``, within the margin to both sides. The margin of a ratio is its distance from 1.
    """
    more, less = margin, -margin
    if ratio:
        more, less = math.log1p(margin), math.log1p(-margin) if margin < 1 else -math.inf
    return {
        "lower": (-math.inf, less),
        "higher": (more, math.inf),
        "not higher": (-math.inf, more),
        "not lower": (less, math.inf),
        "equal": (-more, more),
    }[direction]


def judge(values: ArrayLike, low: float, high: float) -> Decision:
    """Decision on gaps (n,), or bounds of them (n, 2), n >= 1, whose mean should lie between two limits.

    Holds if the interval lies between, fails if it lies outside, both with p < `LEVEL`, and is undecided
    otherwise.
    """
    bounds = _bounds(values)
    least, most = bounds.T
    if len(bounds) < 2:
        return Decision(UNDECIDED, *_shown(bounds, least))
    inside, outside = [], []
    if high < math.inf:
        inside, outside = [p_below(most, high)], [p_below(-least, -high)]
    if low > -math.inf:
        inside, outside = [*inside, p_below(-least, -low)], [*outside, p_below(most, low)]
    p_holds, p_fails = min(1.0, 2 * max(inside)), min(1.0, 2 * min(outside))
    # The bound that was tested: of the side towards which the gap lies.
    from_above = (high < math.inf) == (p_holds <= p_fails)
    shown = _shown(bounds, most if from_above else least)
    return Decision(_outcome(p_holds, p_fails), *shown, min(p_holds, p_fails))


def _outcome(p_holds: float, p_fails: float) -> str:
    return HOLDS if p_holds < LEVEL else FAILS if p_fails < LEVEL else UNDECIDED


def _shown(bounds: Floats, tested: Floats) -> tuple[Estimate, str]:
    """The estimate of a mean gap, and whether it is a bound.

    Of the tested values; where one is infinite, without an interval, of the other bounds, which it is then
    at least or at most; NaN where some of these are infinite, too: the other seeds alone would flatter.
    """
    least, most = bounds.T
    if np.isfinite(tested).all():
        return estimate(tested), "" if (least == most).all() else _side(tested, most)
    for other in (least, most):
        if np.isfinite(other).all():
            return Estimate(float(other.mean()), math.nan, math.nan), _side(other, most)
    return Estimate(math.nan, math.nan, math.nan), ""


def _side(bound: Floats, most: Floats) -> str:
    return "at most" if (bound == most).all() else "at least"


def judge_slope(slope: float, error: float, n_free: int, low: float, high: float) -> Decision:
    """Decision on a fitted slope, by one-sided t tests against the ends of a region."""
    from scipy.special import stdtr

    half = t_quantile(n_free) * error
    above, below = (stdtr(n_free, (limit - slope) / max(error, ROUNDING)) for limit in (low, high))
    p_holds, p_fails = 2 * max(above, 1 - below), 2 * min(1 - above, below)
    found = Estimate(slope, slope - half, slope + half)
    return Decision(_outcome(p_holds, p_fails), found, p=float(min(p_holds, p_fails, 1.0)))


def judge_share(won: int, n: int, least: float) -> Decision:
    """Decision on a share of n instances, by Wilson's interval, with the p-value of the score test."""
    from scipy.stats import norm

    low, high = wilson(won, n)
    outcome = HOLDS if low >= least else FAILS if high < least else UNDECIDED
    spread = math.sqrt(least * (1 - least) / n)
    p = 2 * float(norm.sf(abs(won / n - least) / spread)) if spread else math.nan
    return Decision(outcome, Estimate(won / n, low, high), p=p)


def p_below(values: Floats, limit: float) -> float:
    """One-sided p-value for a mean of values (n,) below a limit; 1 with fewer than two values."""
    from scipy.special import bdtrc, stdtr

    if len(values) < 2:
        return 1.0
    values = np.where(np.abs(values - limit) < ROUNDING, limit, values)
    if not np.isfinite(values).all():
        return float(bdtrc((values < limit).sum() - 1, len(values), 0.5))
    mean, error = values.mean() - limit, values.std(ddof=1) / math.sqrt(len(values))
    if error < ROUNDING:
        return 0.0 if mean < -ROUNDING else 1.0
    return float(stdtr(len(values) - 1, mean / error))


def holm_adjusted(p_values: ArrayLike) -> Floats:
    """P-values (n,) that hold in common, by Holm's procedure; those that are NaN do not count."""
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")[: np.isfinite(p).sum()]  # NaN is last
    adjusted = np.full(len(p), np.nan)
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
