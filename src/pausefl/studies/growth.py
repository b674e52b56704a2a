"""By which law a curve of regret grows, and how fast it still does at its end.

Laws. Each minimises the same error, the root mean square of fit / regret - 1 over the kept rounds from
n / 100 on. Those rounds are even in ln t, so both decades weigh alike. Absolute residuals would leave the
last third of the run to decide, and fits on different axes, straight or logarithmic, could not be compared.
The growing laws have two parameters each, so AIC and BIC would rank them as the error does.

Local exponent. The slope d ln R / d ln t assumes no law. It is 1 for linear growth and 1/2 for a square root;
for a logarithm it falls from decade to decade towards 0.

The root of t ln t is the usual order of bounds that hold however small the differences of rewards are;
logarithmic ones need a least difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Laws are fitted from the last round divided by this on: past the start, when little is known of any user.
FIT_SPAN = 100

#: What the tables call the mean over seeds, a selector's last curve.
MEAN = "mean"

#: What a + b f(t) has for f, by the name of the law. The power law is a t^b.
_BASES: dict[str, Callable[[Floats], Floats]] = {
    "constant": np.zeros_like,
    "logarithmic": np.log,
    "root": lambda t: np.sqrt(t * np.log(t)),
    "linear": np.positive,
}

#: All laws, the plainest first.
LAWS = (*_BASES, "power")

#: An error up to this many times the least, or this much above it, counts as equal to it. The power law can
#: nearly mimic all others, so it has to be clearly better.
_TIE_FACTOR, _TIE = 1.25, 1e-6


def law_value(law: str, a: float, b: float, t: Floats) -> Floats:
    """Regret (n,) after rounds ``t`` (n,) by one of `LAWS`."""
    return np.asarray(a * t**b if law == "power" else a + b * _BASES[law](t))


def fit_law(law: str, t: Floats, regret: Floats) -> tuple[float, float]:
    """Parameters a and b of one of `LAWS` of least relative error; ``regret`` (n,) is positive."""
    if law == "power":
        return _fit_power(t, regret)
    design = np.column_stack([np.ones_like(t), _BASES[law](t)])
    a, b = np.linalg.lstsq(design / regret[:, None], np.ones_like(t))[0]
    return float(a), float(b)


def _fit_power(t: Floats, regret: Floats) -> tuple[float, float]:
    """Gauss-Newton, from the straight line through the logarithms."""
    design = np.column_stack([np.ones_like(t), np.log(t)])
    parameters = np.linalg.lstsq(design, np.log(regret))[0]
    for _ in range(20):
        ratio = np.exp(design @ parameters) / regret
        parameters += np.linalg.lstsq(ratio[:, None] * design, 1 - ratio)[0]
    return math.exp(parameters[0]), float(parameters[1])


def fits(runs: pd.DataFrame) -> pd.DataFrame:
    """All laws, fitted to each run and to the mean over seeds.

    Rounds before the first regret are left out, as relative errors have no meaning there; a run without any
    regret is constant.

    Parameters
    ----------
    runs
        Rows of `pausefl.studies.regret.run` with ``selector`` and ``seed``; runs of one selector have the
        same rounds.

    Returns
    -------
    pandas.DataFrame
        One row a curve and law: ``selector``, ``seed`` (text; `MEAN` for the mean), ``law``, ``a``, ``b``,
        ``error`` (relative) and ``preferred``: the plainest law whose error is the least, or nearly.
    """
    rows = []
    for selector, seed, t, regret in _curves(runs):
        late = (t >= t[-1] / FIT_SPAN) & (regret > 0)
        found = [_fitted(law, t[late], regret[late]) for law in LAWS]
        least = min(error for _, _, error in found)
        equal = [error <= max(_TIE_FACTOR * least, least + _TIE) for _, _, error in found]
        for law, (a, b, error) in zip(LAWS, found, strict=True):
            preferred = law == LAWS[equal.index(True)]
            rows.append((selector, seed, law, a, b, error, preferred))
    return pd.DataFrame(rows, columns=["selector", "seed", "law", "a", "b", "error", "preferred"])


def _fitted(law: str, t: Floats, regret: Floats) -> tuple[float, float, float]:
    """A, b and error of a law; zeros where there is nothing to fit."""
    if not len(t):
        return 0.0, 0.0, 0.0
    a, b = fit_law(law, t, regret)
    return a, b, float(np.sqrt(np.mean((law_value(law, a, b, t) / regret - 1) ** 2)))


def growth(runs: pd.DataFrame) -> pd.DataFrame:
    """How fast each run, and the mean over seeds, still grows at its end, whatever the law.

    Parameters
    ----------
    runs
        As for `fits`.

    Returns
    -------
    pandas.DataFrame
        One row a curve: ``selector``, ``seed`` as in `fits`; ``regret`` of all n rounds; ``ratio`` to that of
        the first n / 10; ``exponent`` over the last decade of rounds and ``exponent_before`` over the decade
        before it. NaN where there was no regret yet.
    """
    rows = []
    for selector, seed, t, regret in _curves(runs):
        n, end = t[-1], float(regret[-1])
        tenth = float(np.interp(np.log(n / 10), np.log(t), regret))
        last, before = _exponent(t, regret, n / 10, n), _exponent(t, regret, n / 100, n / 10)
        rows.append((selector, seed, end, end / tenth if tenth > 0 else math.nan, last, before))
    return pd.DataFrame(rows, columns=["selector", "seed", "regret", "ratio", "exponent", "exponent_before"])


def _exponent(t: Floats, regret: Floats, start: float, end: float) -> float:
    """Least-squares slope of ln R against ln t over a span of rounds; NaN with fewer than two positive R."""
    inside = (t >= start) & (t <= end) & (regret > 0)
    if inside.sum() < 2:
        return math.nan
    return float(np.polyfit(np.log(t[inside]), np.log(regret[inside]), 1)[0])


def _curves(runs: pd.DataFrame) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Rounds and regret (n,) of each run as (selector, seed, rounds, regret), and of each selector's mean."""
    for selector, own in runs.groupby("selector", sort=False):
        table = own.pivot(index="round", columns="seed", values="regret")
        curves = {str(seed): table[seed] for seed in table} | {MEAN: table.mean(axis=1)}
        for seed, regret in curves.items():
            yield str(selector), seed, table.index.to_numpy(np.float64), regret.to_numpy(np.float64)
