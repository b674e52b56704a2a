"""Means over seeds and shares, with their intervals."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

#: Confidence level of all intervals.
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean over seeds and its interval; ``low`` and ``high`` are NaN with fewer than two seeds."""

    mean: float
    low: float
    high: float


def t_quantile(n_free: int) -> float:
    """Half width of an interval with that many degrees of freedom, in standard errors."""
    from scipy.special import stdtrit  # scipy.stats takes ten times as long to import

    return float(stdtrit(n_free, (1 + CONFIDENCE) / 2))


def estimate(values: ArrayLike) -> Estimate:
    """Mean and Student's interval of finite values (n,); all NaN without any."""
    values = np.asarray(values, np.float64)
    if not len(values):
        return Estimate(math.nan, math.nan, math.nan)
    mean = float(values.mean())
    if len(values) < 2:
        return Estimate(mean, math.nan, math.nan)
    half = t_quantile(len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half)


def wilson(n_won: int, n: int) -> tuple[float, float]:
    """Wilson's interval for a probability of which ``n_won`` of ``n`` trials are seen."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, shrink = n_won / n, 1 + z**2 / n
    centre = (share + z**2 / (2 * n)) / shrink
    half = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / shrink
    return max(centre - half, 0.0), min(centre + half, 1.0)


def across_seeds(runs: pd.DataFrame) -> pd.DataFrame:
    """Means and sample standard deviations over seeds of a table of one row a run.

    Its index is ``seed`` and whatever else tells runs apart, such as ``selector``. These become columns, then
    come ``n_seeds`` and each column with ``_mean`` and ``_sd``; infinite values have no deviation.
    """
    apart = [name for name in runs.index.names if name != "seed"]
    seeds = runs.groupby(apart, sort=False)
    deviations = runs.where(np.isfinite(runs)).groupby(apart, sort=False).std()
    across = seeds.mean().add_suffix("_mean").join(deviations.add_suffix("_sd"))
    across = across[[f"{column}_{kind}" for column in runs for kind in ("mean", "sd")]]
    across.insert(0, "n_seeds", seeds.size())
    return across.reset_index()
