"""Paired differences over seeds: mean, interval, and whether the mean lies where a claim wants it.

Selectors under one seed share data, latencies and noise, so differences are taken seed by seed. The interval
is Student's at level `CONFIDENCE`: with three seeds, 2.5 standard deviations to either side. One seed has no
interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: Confidence level of all intervals.
CONFIDENCE = 0.95

#: Outcomes of a comparison.
HOLDS, FAILS, UNDECIDED, NOT_RUN = "holds", "fails", "undecided", "not run"

#: A smaller gap is rounding, differs between machines, and is written as 0.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds and its interval; ``low`` and ``high`` are NaN with fewer than two seeds."""

    mean: float
    low: float
    high: float


def t_quantile(n_free: int) -> float:
    """Half width of an interval with that many degrees of freedom, in standard errors."""
    from scipy.stats import t

    return float(t.ppf((1 + CONFIDENCE) / 2, n_free))


def estimate(values: ArrayLike) -> Estimate:
    """Mean and interval of finite values (n,), n >= 1."""
    values = np.asarray(values, np.float64)
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, math.nan, math.nan)
    half = t_quantile(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)


def gaps(ours: ArrayLike, theirs: ArrayLike, gap: str) -> Floats:
    """Paired differences (n,), or logarithms of ratios.

    A value may be infinite: a target never reached, a loss after divergence. The gap of two infinite values
    is NaN.
    """
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(ours) - np.log(theirs) if gap == "ratio" else ours - theirs)


def region(direction: str, margin: float, gap: str) -> tuple[float, float]:
    """Open interval in which the mean gap should lie; logarithms for ratios.

    Parameters
    ----------
    direction
        ``lower``, ``higher``, or ``equal``: within the margin to both sides.
    margin
        For a ratio, the share by which it should differ, or may differ, from 1.
    gap
        ``ratio`` or ``difference``.
    """
    if direction == "equal":
        far = math.log1p(margin) if gap == "ratio" else margin
        return -far, far
    if direction == "lower":
        return -math.inf, math.log1p(-margin) if gap == "ratio" else -margin
    return math.log1p(margin) if gap == "ratio" else margin, math.inf


def judge(values: Floats, low: float, high: float) -> tuple[str, Estimate]:
    """Outcome and estimate of gaps (n,), n >= 1, whose mean should lie between ``low`` and ``high``.

    Holds if the whole interval lies between, fails if all of it lies outside, and is undecided otherwise.
    With an infinite gap there is no mean: it holds if every gap lies between, fails if none does, and the
    estimate is of the finite gaps. A NaN gap leaves it undecided.
    """
    finite = values[np.isfinite(values)]
    found = estimate(finite) if len(finite) else Estimate(math.nan, math.nan, math.nan)
    if np.isnan(values).any():
        return UNDECIDED, found
    if len(finite) < len(values):
        inside = (values > low) & (values < high)
        inside |= (values == low) & np.isinf(values) | (values == high) & np.isinf(values)
        outcome = HOLDS if inside.all() else UNDECIDED if inside.any() else FAILS
        return outcome, Estimate(found.mean, math.nan, math.nan)
    least, most = (found.mean, found.mean) if math.isnan(found.low) else (found.low, found.high)
    if low < least and most < high:
        return HOLDS, found
    return (FAILS if most <= low or least >= high else UNDECIDED), found
