"""Curves over simulated time or rounds: a line for each selector, and how far its seeds differ.

A line is the mean over seeds, interpolated onto the union of their times, until the first of them ends; there
it has its selector's marker. Up to `FEW` seeds are thin lines. Of more, the range is a band in figures of at
most `MOST_BANDS` selectors, else an interval at the end of the line.

Where FedAvg lasts more than `LONG` times as long as every other selector, the axis of time ends at `MARGIN`
times the longest of those, and the end of the curve stands beside its name.

Bands are Matplotlib's: seaborn's ``lineplot`` takes 13 s for 10 selectors, 3 seeds and 1,000 rounds.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.figures.style import legend_key, look, marker
from pausefl.analysis.outcomes import WINDOW, smoothed
from pausefl.runs.run import runs_of
from pausefl.selectors import SELECTORS, in_legend_order, look_of
from pausefl.settings import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: From this ratio of durations on, the axis of time is cut; where it then ends, relative to the longest
#: selector that does not take everyone.
LONG, MARGIN = 1.5, 1.08

#: Up to this many seeds are lines of their own, and up to this many selectors have bands.
FEW, MOST_BANDS = 5, 3

#: Share of an axis within which two marks would hide one another.
NEAR = 0.025

#: Share of an axis from which on a range of seeds can be seen.
SEEN = 0.02

#: Characters of a line of a name beside the axes.
NAME_WIDTH = 20

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
    seeds: Seeds = field(default_factory=dict)

    def until(self, limit: float) -> Band:
        """The curve up to its first knot beyond a limit: what lies further off must not scale the y axis."""
        end = int(np.searchsorted(self.x, limit)) + 1
        ends = {seed: int(np.searchsorted(x, limit)) + 1 for seed, (x, _) in self.seeds.items()}
        seeds = {seed: (x[: ends[seed]], y[: ends[seed]]) for seed, (x, y) in self.seeds.items()}
        return Band(self.x[:end], self.mean[:end], self.low[:end], self.high[:end], self.n_seeds, seeds)


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
    return Band(x, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0), len(rows), seeds)


def bands(curves: Iterable[tuple[Any, ...]], step: bool = False) -> dict[str, Band]:
    """The `band` of each selector, in legend order, from selector, seed, x and y of each run.

    Selectors whose seeds have no common x are left out.
    """
    seeds: dict[str, dict[int, tuple[Array, Array]]] = {}
    for selector, seed, x, y in curves:
        seeds.setdefault(selector, {})[seed] = np.asarray(x, np.float64), np.asarray(y, np.float64)
    found = {selector: band(seeds[selector], step) for selector in in_legend_order(seeds)}
    return {selector: curve for selector, curve in found.items() if len(curve.x)}


def smoothed_bands(
    rounds: pd.DataFrame, column: str, scale: float = 1.0, window: int = WINDOW
) -> dict[str, Band]:
    """Curves over time of the moving average of ``accuracy`` or ``loss``, of all trained selectors.

    Rounds without evaluation are skipped over. ``scale`` multiplies the values (100 for per cent).
    """
    runs = ((selector, seed, *smoothed(run, column, window)) for selector, seed, run in runs_of(rounds))
    return bands((selector, seed, x, scale * y) for selector, seed, x, y in runs if len(y))


def leakage_bands(rounds: pd.DataFrame, x_column: str) -> dict[str, Band]:
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


#: How a thin line of a seed looks, and a band.
_SEED: dict[str, Any] = {"linewidth": 0.45}
_FILLED: dict[str, Any] = {"alpha": 0.18, "linewidth": 0}


def _spread(curve: Band, wide: bool) -> str:
    """How a curve's seeds are shown: ``lines``, ``band``, ``bar``; nothing if there is one."""
    if curve.n_seeds == 1:
        return ""
    return "lines" if curve.n_seeds <= FEW and curve.seeds else "band" if wide else "bar"


def spread_of(curves: Collection[Band], wide: bool = True, barred: bool = True) -> dict[str, Any]:
    """Keys of a legend by their words: thin lines of seeds, and bands, or bars if curves are not ``wide``.

    ``barred`` says whether there is any bar that is long enough to be seen.
    """
    from matplotlib.patches import Patch

    bar: dict[str, Any] = {"marker": r"$\mathrm{I}$", "markersize": 7, "markeredgewidth": 0.2}
    line = legend_key(color="black")
    keys: dict[str, tuple[str, Any]] = {
        "lines": ("Thin lines: seeds", legend_key(color="black", **_SEED)),
        "band": ("Band: range of seeds", (Patch(facecolor="black", **_FILLED), line)),
        "bar": ("Bar: range of seeds", legend_key(color="black", linestyle="none", **bar)),
    }
    shown = {_spread(curve, wide) for curve in curves} - (set() if barred else {"bar"})
    return dict(key for how, key in keys.items() if how in shown)


def plot_band(
    axes: Axes,
    selector: str,
    curve: Band,
    step: bool = False,
    label: str = "",
    wide: bool = True,
    marked: bool = True,
) -> Line2D:
    """The line of a selector, plotted with its seeds; ``step`` as in `on_one_axis`.

    More than `FEW` seeds are a band, or only their mean if the line is not to be ``wide``.
    """
    style, shape = look(selector), "steps-post" if step else "default"
    below = {"color": style["color"], "zorder": style["zorder"] - 2}
    how = _spread(curve, wide)
    if how == "lines":
        for x, y in curve.seeds.values():
            axes.plot(x, y, drawstyle=shape, **below, **_SEED)
    elif how == "band":
        joined: Any = {"step": "post" if step else None}
        axes.fill_between(curve.x, curve.low, curve.high, **joined, **below, **_FILLED)
    if not wide:
        style["linewidth"] *= 0.75
    # Marks of different selectors are at different places of the same curve.
    first = 0.02 + 0.4 * (0.618 * list(SELECTORS).index(selector) % 1)
    style |= marker(selector) | {"markevery": (first, 0.4)} if marked else {}
    (line,) = axes.plot(curve.x, curve.mean, drawstyle=shape, label=label, **style)
    return line


def plot_curves(
    axes: Axes,
    curves: Mapping[str, Band],
    labels: Mapping[str, str],
    step: bool = False,
    end: float = np.inf,
    between: tuple[float, float] = (-np.inf, np.inf),
    wide: bool = True,
) -> list[Line2D]:
    """The lines of curves, plotted with their ends; the highest end first, labelled for `with_names`.

    Ranges of seeds are bands if curves are to be ``wide``, else bars. The axes reach to ``end``, and lie
    ``between`` two heights. A curve that ends beyond them has no end, and no mark there.
    """
    from matplotlib.transforms import offset_copy

    lines: dict[str, Line2D] = {}
    drawn: list[float] = []
    means = np.concatenate([curve.mean[np.isfinite(curve.mean)] for curve in curves.values()])
    least = SEEN * np.ptp(means)
    for selector, curve in curves.items():
        label = labels[selector] + n_seeds_of(curve, curves)
        lines[selector] = line = plot_band(axes, selector, curve, step, label, wide)
        inside = (curve.x <= end) & (between[0] <= curve.mean) & (curve.mean <= between[1])
        if not inside.any():
            continue
        last = int(np.flatnonzero(inside)[-1])
        x, y = float(curve.x[last]), curve.mean[last]
        own: dict[str, Any] = {"color": line.get_color(), "zorder": line.get_zorder() + 2}
        if last == len(curve.x) - 1:
            axes.plot(x, y, linestyle="none", clip_on=False, **own, **marker(selector))
            if _spread(curve, wide) == "bar" and curve.high[-1] - curve.low[-1] > least:
                beside = sum(abs(x - other) < NEAR * max(drawn) for other in drawn)
                root = axes.get_figure(root=True)
                moved = offset_copy(axes.transData, root, x=4 + 3.5 * beside, units="points")
                bar: dict[str, Any] = {"linewidth": 0.9, "marker": "_", "clip_on": False, "transform": moved}
                axes.plot([x, x], [curve.low[-1], curve.high[-1]], **bar, **own)
                axes.plot(x, y, linestyle="none", clip_on=False, transform=moved, **own, **marker(selector))
                drawn.append(x)
    return [lines[selector] for selector in sorted(lines, key=lambda one: -float(curves[one].mean[-1]))]


def with_names(figure: Figure, lines: Sequence[Line2D], curves: Mapping[str, Band]) -> Figure:
    """The figure with the names of lines to the right of its first axes, in their order.

    Above them is the number of seeds, unless a name has another; below them, how seeds are shown. The figure
    grows if the names need it.
    """
    wide = len(curves) <= MOST_BANDS
    barred = any(line.get_marker() == "_" for axes in figure.axes for line in axes.lines)
    spread = spread_of(curves.values(), wide, barred)
    numbers = {curve.n_seeds for curve in curves.values()}
    most = max(numbers)
    words = [*(str(line.get_label()) for line in lines), *spread]
    names = [textwrap.fill(one, NAME_WIDTH) for one in words]
    right = (1 - NEAR) * figure.axes[0].get_xlim()[1]
    bars = sum(_spread(curve, wide) == "bar" and curve.x[-1] > right for curve in curves.values())
    legend = figure.axes[0].legend(
        [*lines, *spread.values()],
        names,
        title=f"n = {most}" + (" unless stated" if len(numbers) > 1 else " seed" if most == 1 else " seeds"),
        loc="upper left",
        bbox_to_anchor=(1, 1),
        borderaxespad=1.2 + 0.5 * bars,
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        handlelength=3,
        handletextpad=0.5,
    )
    for text in legend.get_texts():
        text.set_linespacing(0.9)
    rows = 1 + sum(1.25 + name.count("\n") for name in names)
    figure.set_figheight(max(figure.get_figheight(), 0.3 + 0.115 * rows))
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
    axes.axhline(budget, color="black", linewidth=0.6, zorder=2.5)
    if words:
        place: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
        name = f"budget ε = {budget:,.10g}"
        axes.annotate(name, (1, budget), (-2, 2), ha="right", va="bottom", fontsize=8, **place)
