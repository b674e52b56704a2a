"""How much a selector loses against the genie, and the law by which that grows (PAUSE v2, Theorem 3; BSFL).

The pseudo-regret of a round is C^G of the genie's choice less C^G of the selector's, both on the selector's
own history (PAUSE v2, eqs. 10, 15; BSFL, eqs. 6, 7; deviation D11). Regret is its sum over the rounds so far.

Each law minimises the root mean square of fit / regret - 1 over the kept rounds from n / 100 on. Those rounds
are even in ln t, so both decades weigh alike; absolute residuals would leave the last third of the run to
decide. The growing laws have two parameters each, so AIC and BIC would rank them as the error does.

The root of t ln t is the usual order of bounds that hold however small the differences of rewards are;
logarithmic ones need a least difference. The local exponent d ln R / d ln t assumes no law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.figures.curves import Band
from pausefl.analysis.figures.panels import NOTE, Plotted, bands_of, explain, new_panels, plot_bands
from pausefl.bandit.history import History
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.base import AtLeastTwo, Floats, Note, SeededStudy, Tables, log_spaced
from pausefl.schema.types import Positive
from pausefl.selectors import look_of
from pausefl.settings import Scenario

if TYPE_CHECKING:
    from pausefl.federated.simulation import PseudoRegret

#: Rounds kept of a run, at most: 60 a decade in a run of 100,000.
N_KEPT = 301

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

#: Laws whose exponents are shown, as the figure calls them.
_GUIDES = {"linear": "$t$", "root": r"$\sqrt{t\,\ln t}$", "logarithmic": r"$\ln t$"}


class Regret(SeededStudy):
    """Pseudo-regret against rounds, with fits of growth laws (PAUSE v2, Theorem 3; BSFL, Figs. 5 and 8)."""

    label = "pseudo-regret against rounds"
    besides = frozenset({"genie"})

    n_rounds: AtLeastTwo
    """Rounds of each run."""
    reward_step: Positive | None = None
    """Expected rewards are rounded down to multiples of this, as BSFL assumes (III-C); null leaves them."""

    @property
    def length(self) -> int:
        """Rounds of each run."""
        return self.n_rounds

    def compute(self, note: Note) -> Tables:
        """Simulate every selector under every seed.

        ``runs.parquet``: ``selector``, ``seed`` and what `run` returns, sorted by both; its `fits`, as
        ``fits.csv``, and its `growth`, as ``growth.csv``, with selectors in the order of the study.
        """
        parts = []
        for selector, seed in sorted(product(self.scenario.selectors, self.seeds)):
            note(f"{selector}, seed {seed}")
            rounds = run(self.scenario, selector, seed, self.n_rounds, self.reward_step)
            rounds.insert(0, "selector", selector)
            rounds.insert(1, "seed", seed)
            parts.append(rounds)
        runs = pd.concat(parts, ignore_index=True)
        listed = self._in_order(runs)
        return {"runs.parquet": runs, "fits.csv": fits(listed), "growth.csv": growth(listed)}

    def plot(self, tables: Tables) -> Plotted:
        """Regret of all selectors, and the exponent of its mean over seeds; the legend has that of `growth`.

        Thin lines are the exponents of `_GUIDES`.
        """
        runs, grown = self._in_order(tables["runs.parquet"]), tables["growth.csv"]
        bands = bands_of(runs, "regret")
        figure, ((left, right),) = new_panels((1, 2), 3.1)
        lines = plot_bands(left, bands)
        left.set(ylabel="Pseudo-regret R of all rounds", yscale="log")
        plot_bands(right, {name: _exponents(curve.x, curve.mean) for name, curve in bands.items()})
        t = bands[runs["selector"].iloc[0]].x
        for law, words in _GUIDES.items():
            guide = _exponents(t, law_value(law, 0, 1, t))
            right.plot(guide.x, guide.mean, color="black", linewidth=0.5, zorder=2.2)
            right.annotate(f"as {words}", (t[-1], guide.mean[-1]), (3, 0), va="center", **NOTE)
        right.set(ylabel="Growth d ln R / d ln t, from t/10 to t", ylim=(0, None), xlim=(guide.x[0], t[-1]))
        for axes in (left, right):
            axes.set(xlabel="Round t", xscale="log")
            axes.minorticks_off()
        seeds = grown[grown["seed"] != MEAN].groupby("selector")["exponent"]
        labels = [f"{look_of(name).label}: {_range(seeds.get_group(name).dropna())}" for name in bands]
        title = f"Exponent of growth, rounds {t[-1] / 10:,.0f} to {t[-1]:,.0f}, mean (range over seeds):"
        explain(figure, lines, labels, bands.values(), title=title, ncols=3)
        return Plotted(figure)

    def _in_order(self, runs: pd.DataFrame) -> pd.DataFrame:
        """The runs, sorted by selector as the study lists them."""
        order = self.scenario.selectors.index
        return runs.sort_values("selector", key=lambda names: names.map(order), kind="stable")


@dataclass(frozen=True)
class Quantised:
    """Regret of rewards rounded down to multiples of a step (BSFL, Section III-C).

    Rounding keeps the order of rewards, so the genie's choice is still best.
    """

    exact: PseudoRegret
    step: float

    def of(self, users: NDArray[np.int64], history: History) -> float:
        """Regret of selecting ``users``, a multiple of the step."""
        ours = self.exact.reward.value(history, users, self.exact.speeds[users])
        genies = ours + self.exact.of(users, history)
        if math.isnan(genies):
            return genies
        return self.step * (math.floor(genies / self.step) - math.floor(ours / self.step))


def run(
    scenario: Scenario, selector: str, seed: int, n_rounds: int, step: float | None = None
) -> pd.DataFrame:
    """``round``, ``regret`` up to it, and ``elapsed_s`` in simulated seconds, for each of `N_KEPT` rounds.

    Rewards are `Quantised` by a step, if one is given. All rounds are in memory until the end, at 1 kB each.
    `PauseflError` if the selector does not select m users in every round, as the genie does (deviation D49).
    """
    simulation = selection_only(scenario, selector, seed, genie=True)
    if step is not None:
        assert simulation.regret is not None
        simulation.regret = cast("PseudoRegret", Quantised(simulation.regret, step))
    rounds = simulation.run(n_rounds).rounds
    if rounds["pseudo_regret"].isna().any():
        raise PauseflError(
            f"selector '{selector}' has no regret: it does not select {scenario.network.n_selected} users in"
            " every round, as the genie does"
        )
    rounds["regret"] = rounds["pseudo_regret"].cumsum()
    kept = rounds.loc[log_spaced(n_rounds, N_KEPT) - 1, ["round", "regret", "elapsed_s"]]
    return kept.reset_index(drop=True)


def law_value(law: str, a: float, b: float, t: Floats) -> Floats:
    """Regret (n,) after rounds ``t`` (n,) by one of `LAWS`."""
    return np.asarray(a * t**b if law == "power" else a + b * _BASES[law](t))


def fit_law(law: str, t: Floats, regret: Floats) -> tuple[float, float]:
    """Parameters a and b of one of `LAWS` of least relative error; ``regret`` (n,) is positive."""
    design = np.column_stack([np.ones_like(t), np.log(t) if law == "power" else _BASES[law](t)])
    if law != "power":
        a, b = np.linalg.lstsq(design / regret[:, None], np.ones_like(t))[0]
        return float(a), float(b)
    parameters = np.linalg.lstsq(design, np.log(regret))[0]
    for _ in range(20):  # Gauss-Newton, from the straight line through the logarithms
        ratio = np.exp(design @ parameters) / regret
        parameters += np.linalg.lstsq(ratio[:, None] * design, 1 - ratio)[0]
    return math.exp(parameters[0]), float(parameters[1])


def fits(runs: pd.DataFrame) -> pd.DataFrame:
    """All laws, fitted to each run and to the mean over seeds.

    Rounds before the first regret are left out, as relative errors have no meaning there; a run without any
    regret is constant.

    One row a curve and law: ``selector``, ``seed`` (text; `MEAN` for the mean), ``law``, ``a``, ``b``,
    ``error`` (relative) and ``preferred``: the plainest law whose error is the least, or nearly.
    """
    frames = []
    for selector, seed, t, regret in _curves(runs):
        late = (t >= t[-1] / FIT_SPAN) & (regret > 0)
        t, regret = t[late], regret[late]
        rows = []
        for law in LAWS:
            a, b = fit_law(law, t, regret) if len(t) else (0.0, 0.0)
            residuals = law_value(law, a, b, t) / regret - 1
            error = float(np.sqrt(np.mean(residuals**2))) if len(t) else 0.0
            rows.append((selector, seed, law, a, b, error))
        fitted = pd.DataFrame(rows, columns=["selector", "seed", "law", "a", "b", "error"])
        least = fitted["error"].min()
        equal = fitted["error"] <= max(_TIE_FACTOR * least, least + _TIE)
        frames.append(fitted.assign(preferred=fitted.index == equal.idxmax()))
    return pd.concat(frames, ignore_index=True)


def growth(runs: pd.DataFrame) -> pd.DataFrame:
    """How fast each run, and the mean over seeds, still grows at its end, whatever the law.

    One row a curve: ``selector``, ``seed`` as in `fits`; ``regret`` of all n rounds; ``ratio`` to that of the
    first n / 10; ``exponent`` over the last decade of rounds and ``exponent_before`` over the decade before
    it. NaN where there was no regret yet.
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


def _range(exponents: pd.Series[float]) -> str:
    """Mean of the seeds' exponents, and the least and the largest, if there are several."""
    if not len(exponents):
        return "no regret"
    ends = f" ({exponents.min():.2f} to {exponents.max():.2f})" if len(exponents) > 1 else ""
    return f"{exponents.mean():.2f}{ends}"


def _exponents(t: Floats, regret: Floats) -> Band:
    """The exponent in the decade before each of the last three decades of rounds."""
    shown = t[t >= t[-1] / (10 * FIT_SPAN)]
    exponent = np.array([_exponent(t, regret, end / 10, end) for end in shown])
    return Band(shown, exponent, exponent, exponent, n_seeds=1)
