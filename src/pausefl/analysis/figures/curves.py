"""Curves over simulated time or rounds: a line for each selector, and how far its seeds differ.

A line is the mean over seeds, interpolated onto the union of their times, until the first of them ends, and a
band the range of the seeds. Names stand beside the axes, at the height where their lines end. In a figure of
many selectors the `MOST_COLOURED` that matter have their colours and bands; the others are grey.

Where FedAvg lasts more than `LONG` times as long as every other selector, the axis of time ends at `MARGIN`
times the longest of those, and the end of the curve stands beside its name.

Bands are Matplotlib's: seaborn's ``lineplot`` takes 13 s for 10 selectors, 3 seeds and 1,000 rounds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.figures.names import name_ends
from pausefl.analysis.figures.style import look, marker
from pausefl.analysis.outcomes import WINDOW, smoothed
from pausefl.runs.run import Rounds, runs_of
from pausefl.selectors import SELECTORS, in_legend_order, look_of
from pausefl.settings import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: From this ratio of durations on, the axis of time is cut; where it then ends, relative to the longest
#: selector that does not take everyone.
LONG, MARGIN = 1.5, 1.08

#: Selectors that matter, in this order: the papers' proposals and usual baselines, then variants of these.
#: Of more than `MOST_COLOURED` of pausefl's selectors that many are in colour; a user's own always are.
COLOURED_FIRST = (
    *("pause", "bsfl", "sa_pause", "random", "fedavg", "sa_pause_best_gain", "sa_pause_v1", "alsa"),
    *("random_by_size", "cs_ucb", "cs_ucb_q"),
)
MOST_COLOURED = 5

#: Colour of the other selectors' lines.
GREY = "0.6"

#: How a thin line looks that is no curve: a target, or a budget.
THIN: dict[str, Any] = {"color": "black", "linewidth": 0.6, "linestyle": (0, (4, 2))}

#: How the range of seeds looks.
FILLED: dict[str, Any] = {"alpha": 0.15, "linewidth": 0}

Array = NDArray[np.float64]

#: x and y of each seed, (n,) each, x increasing; n may differ.
Seeds = Mapping[int, tuple[Array, Array]]


@dataclass(frozen=True)
class Band:
    """One selector's mean, minimum and maximum over its seeds, shape (n,) each, at increasing ``x``."""

    x: Array
    mean: Array
    low: Array
    high: Array
    n_seeds: int

    def until(self, limit: float) -> Band:
        """The curve up to its first knot beyond a limit: what lies further off must not scale the y axis."""
        end = int(np.searchsorted(self.x, limit)) + 1
        return Band(self.x[:end], self.mean[:end], self.low[:end], self.high[:end], self.n_seeds)


@dataclass(frozen=True)
class Shown:
    """What curves show: ``accuracy``, ``loss`` or ``leakage_max``, against another column of the rounds."""

    column: str
    y_label: str
    x_column: str = "elapsed_s"
    x_label: str = "Simulated time (s)"
    scale: float = 1.0
    #: Rounds of the trailing mean of an accuracy or a loss.
    window: int = WINDOW

    @property
    def is_leakage(self) -> bool:
        """Whether it is a step function, of which the authors' archive has single rounds alone."""
        return self.column == "leakage_max"

    @property
    def quantity(self) -> str:
        """The label of the ordinate in one line."""
        return " ".join(self.y_label.split())


def on_one_axis(runs: Collection[tuple[Array, Array]], step: bool = False) -> tuple[Array, Array]:
    """All knots (n,) where all of some curves are defined, and the curves there, (curves, n).

    A curve is straight from one x to the next, or keeps its value until there if it is to ``step``.
    """
    knots = np.unique(np.concatenate([x for x, _ in runs]))
    grid = knots[(knots >= max(x[0] for x, _ in runs)) & (knots <= min(x[-1] for x, _ in runs))]
    if step:
        return grid, np.stack([y[np.searchsorted(x, grid, side="right") - 1] for x, y in runs])
    return grid, np.stack([np.interp(grid, x, y) for x, y in runs])


def band(seeds: Seeds, step: bool = False) -> Band:
    """Mean, minimum and maximum of several curves where all are defined; ``step`` as in `on_one_axis`."""
    x, rows = on_one_axis(seeds.values(), step)
    return Band(x, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0), len(rows))


def bands(curves: Iterable[tuple[Any, ...]], step: bool = False) -> dict[str, Band]:
    """The `band` of each selector, in legend order, from selector, seed, x and y of each run.

    Selectors whose seeds have no common x are left out.
    """
    seeds: dict[str, dict[int, tuple[Array, Array]]] = {}
    for selector, seed, x, y in curves:
        seeds.setdefault(selector, {})[seed] = np.asarray(x, np.float64), np.asarray(y, np.float64)
    found = {selector: band(seeds[selector], step) for selector in in_legend_order(seeds)}
    return {selector: curve for selector, curve in found.items() if len(curve.x)}


def smoothed_bands(rounds: Rounds, column: str, scale: float = 1.0, window: int = WINDOW) -> dict[str, Band]:
    """Curves over time of the moving average of ``accuracy`` or ``loss``, of all trained selectors.

    Rounds without evaluation are skipped over. ``scale`` multiplies the values (100 for per cent).
    """
    runs = ((selector, seed, *smoothed(run, column, window)) for selector, seed, run in runs_of(rounds))
    return bands((selector, seed, x, scale * y) for selector, seed, x, y in runs if len(y))


def leakage_bands(rounds: Rounds, x_column: str) -> dict[str, Band]:
    """Bands of the maximum leakage over users against ``elapsed_s`` or ``round``.

    A step function that starts from nothing at 0. Selectors of infinite leakage are left out.
    """
    runs = list(runs_of(rounds))
    endless = {selector for selector, _, run in runs if not np.isfinite(run["leakage_max"]).all()}
    return bands(
        (
            (selector, seed, *(np.concatenate([[0.0], run[column]]) for column in (x_column, "leakage_max")))
            for selector, seed, run in runs
            if selector not in endless
        ),
        step=True,
    )


def time_limit(final_times: Mapping[str, float]) -> float:
    """Where the time axis ends, in simulated seconds, by where each selector's curve ends; see above."""
    longest = max(final_times.values())
    others = [time for name, time in final_times.items() if not SELECTORS[name].takes_everyone]
    limit = max(others, default=longest)
    return longest if longest <= LONG * limit else MARGIN * limit


def on_time_axis(
    curves: Mapping[str, Band], x_column: str = "elapsed_s"
) -> tuple[float, dict[str, Band], dict[str, str]]:
    """Where the time axis ends; each curve up to there, and each label, which says how far its curve goes on.

    An axis of another ``x_column`` has all of every curve.
    """
    ends = {selector: float(curve.x[-1]) for selector, curve in curves.items()}
    limit = time_limit(ends) if x_column == "elapsed_s" else max(ends.values())
    beyond = {name: f" (to\u00a0{end:.0f}\u00a0s)" if end > limit else "" for name, end in ends.items()}
    labels = {name: look_of(name).label + more for name, more in beyond.items()}
    return limit, {name: curve.until(limit) for name, curve in curves.items()}, labels


def in_colour(selectors: Iterable[str]) -> set[str]:
    """Those of some selectors that a figure of them has in colour; see `COLOURED_FIRST`."""
    names = list(selectors)
    ours = [name for name in names if SELECTORS.find(name).__module__.startswith("pausefl.selectors.")]
    matter = ours if len(ours) <= MOST_COLOURED else [one for one in COLOURED_FIRST if one in ours]
    return set(names) - set(ours) | set(matter[:MOST_COLOURED])


def plot_band(axes: Axes, curve: Band, step: bool = False, banded: bool = True, **style: Any) -> Line2D:
    """The line of a curve, plotted with the range of its seeds if it is ``banded``; ``step`` as in `band`.

    ``style`` has Matplotlib's keywords of the line.
    """
    if banded and curve.n_seeds > 1:
        joined: Any = {"step": "post" if step else None}
        axes.fill_between(curve.x, curve.low, curve.high, color=style["color"], **joined, **FILLED)
    (line,) = axes.plot(curve.x, curve.mean, drawstyle="steps-post" if step else "default", **style)
    return line


def plot_curves(
    axes: Axes, curves: Mapping[str, Band], labels: Mapping[str, str], step: bool = False
) -> list[Line2D]:
    """The lines of curves, labelled for `with_names`; those in colour are on top, and of these the first."""
    coloured, lines = in_colour(curves), []
    for i, (selector, curve) in sorted(
        enumerate(curves.items()), key=lambda one: (one[1][0] in coloured, -one[0])
    ):
        style = look(selector) | marker(selector)
        # Marks of different selectors are at different places, so that lines that coincide are told apart.
        style |= {"markevery": (0.03 + 0.3 * i / len(curves), 0.3), "label": labels[selector]}
        if selector not in coloured:
            style |= {"color": GREY, "linewidth": 0.8}
        style["label"] += n_seeds_of(curve, curves)
        lines.append(plot_band(axes, curve, step, selector in coloured, **style))
    return lines


def with_names(figure: Figure, lines: Sequence[Line2D], curves: Mapping[str, Band]) -> Figure:
    """The figure with the names of lines at their ends, and the number of seeds above its first axes."""
    numbers = {curve.n_seeds for curve in curves.values()}
    most = f"{max(numbers)} seeds{', fewer where stated' if len(numbers) > 1 else ''}"
    words = f"Mean and range of {most}" if max(numbers) > 1 else "One seed"
    figure.axes[0].set_title(words, loc="left", fontsize="small", fontweight="normal")
    name_ends(figure.axes[0], lines)
    return figure


def ends(curves: Mapping[str, Band], shown: Shown) -> pd.DataFrame:
    """The numbers of a figure: the end of each curve, with the range of its seeds."""
    heads = ["Selector", "Seeds", shown.x_label, shown.quantity, "Lowest seed", "Highest seed"]
    rows = (
        (look_of(name).label, curve.n_seeds, curve.x[-1], curve.mean[-1], curve.low[-1], curve.high[-1])
        for name, curve in curves.items()
    )
    return pd.DataFrame(rows, columns=heads)


def n_seeds_of(curve: Band, curves: Mapping[str, Band]) -> str:
    """What a curve's name says of its seeds: how many, where others have more."""
    fewer = curve.n_seeds < max(other.n_seeds for other in curves.values())
    return f", n\u00a0=\u00a0{curve.n_seeds}" if fewer else ""


def leakage_label(scenario: Scenario) -> str:
    """What an axis of leakage shows."""
    return f"Largest budget spent\n(ε per {scenario.protects})"


def mark_budget(axes: Axes, scenario: Scenario, words: bool = True) -> None:
    """A thin line at the total budget, which no curve may cross; ``words`` says whether it is named.

    There is none at an infinite budget, which stands for those of several scenarios.
    """
    axes.set_ylim(bottom=0)
    if scenario.privacy is None or np.isinf(scenario.privacy.epsilon_total):
        return
    budget = scenario.privacy.epsilon_total
    axes.set_ylim(top=max(1.12 * budget, axes.get_ylim()[1]))
    axes.axhline(budget, **THIN)
    if words:
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        name = f"budget ε = {budget:,.10g}"
        axes.annotate(name, (1, budget), (-2, 2), ha="right", va="bottom", fontsize=8, **place)
