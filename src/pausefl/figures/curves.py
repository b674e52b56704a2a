"""Curves over simulated time or rounds: a line for each selector, and how far its seeds differ.

A line is the mean over seeds. Each seed's rounds end at its own times; seeds are interpolated onto the union
of those times. A curve ends where the first of its seeds ends, in its selector's marker.

Seeds
    Up to `FEW` seeds of a selector are a thin line each. Of more, the range is a band in figures of at most
    `MOST_BANDS` selectors; else it is an interval at the end of the line.

Time axis
    FedAvg waits for all users (and under R2 for all overlaps). Where it lasts more than `LONG` times as long
    as every other selector, the axis ends at `MARGIN` times the longest of those, and the end of the curve
    stands beside its name.

Bands are Matplotlib's: seaborn's ``lineplot`` aggregates each abscissa on its own, which takes 13 s for the
10 selectors, 3 seeds and 1,000 rounds of a figure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.figures.style import look, marker
from pausefl.registry import SELECTORS
from pausefl.registry.figures import protected
from pausefl.registry.selectors import in_legend_order, look_of
from pausefl.results.outcomes import smoothed
from pausefl.results.runs import runs_of
from pausefl.settings import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: From this ratio of durations on, the time axis is cut.
LONG = 1.5

#: Where a cut axis ends, relative to the longest selector that does not take everyone.
MARGIN = 1.08

#: Losses whose means span more than this ratio are on a logarithmic axis.
LOG_SPAN = 8.0

#: Up to this many seeds are lines of their own, and up to this many selectors have bands.
FEW, MOST_BANDS = 5, 3

#: Share of an axis within which two marks would hide one another.
NEAR = 0.025

#: Characters of a line of a name beside the axes.
NAME_WIDTH = 20

Array = NDArray[np.float64]

#: x and y of each seed, by the seed.
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
        n = int(np.searchsorted(self.x, limit)) + 1
        seeds = {
            seed: (x[: (k := int(np.searchsorted(x, limit)) + 1)], y[:k])
            for seed, (x, y) in self.seeds.items()
        }
        return Band(self.x[:n], self.mean[:n], self.low[:n], self.high[:n], self.n_seeds, seeds)


@dataclass(frozen=True)
class Shown:
    """What the curves of a figure show: columns of the rounds, and the labels of the axes."""

    column: str
    x_label: str
    y_label: str
    x_column: str = "elapsed_s"
    scale: float = 1.0
    step: bool = False

    @property
    def single(self) -> bool:
        """Whether the authors' archive has single rounds of it alone."""
        return self.column == "leakage_max"


def band(seeds: Seeds | Sequence[tuple[Array, Array]], step: bool = False) -> Band:
    """Mean, minimum and maximum of several curves where all of them are defined.

    Each seed has an (x, y), x increasing, shape (n,) each; n may differ. A curve is straight from one x to
    the next, or keeps its value until there if it is to ``step``.
    """
    named = seeds if isinstance(seeds, Mapping) else dict(enumerate(seeds))
    runs = list(named.values())
    start = max(x[0] for x, _ in runs)
    end = min(x[-1] for x, _ in runs)
    knots = np.unique(np.concatenate([x for x, _ in runs]))
    grid = knots[(knots >= start) & (knots <= end)]
    if step:
        rows = np.stack([y[np.searchsorted(x, grid, side="right") - 1] for x, y in runs])
    else:
        rows = np.stack([np.interp(grid, x, y) for x, y in runs])
    return Band(grid, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0), len(rows), named)


def bands(curves: Iterable[tuple[Any, ...]], step: bool = False) -> dict[str, Band]:
    """The `band` of each selector, in legend order, from selector, x, y and, if known, seed of each run."""
    seeds: dict[str, dict[int, tuple[Array, Array]]] = {}
    for selector, x, y, *seed in curves:
        own = seeds.setdefault(selector, {})
        own[seed[0] if seed else len(own)] = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return {selector: band(seeds[selector], step) for selector in in_legend_order(seeds)}


def smoothed_bands(rounds: pd.DataFrame, column: str, scale: float = 1.0) -> dict[str, Band]:
    """Curves over time of the moving average of ``accuracy`` or ``loss``, of all trained selectors.

    Rounds without evaluation are skipped over. ``scale`` multiplies the values (100 for per cent).
    """
    runs = ((selector, *smoothed(run, column), seed) for selector, seed, run in runs_of(rounds))
    return bands(((selector, x, scale * y, seed) for selector, x, y, seed in runs if len(y)))


def leakage_bands(rounds: pd.DataFrame, x_column: str) -> dict[str, Band]:
    """Bands of the maximum leakage over users against ``elapsed_s`` or ``round``.

    A step function that starts from nothing at 0. Selectors of infinite leakage are left out.
    """
    curves = []
    for selector, _, run in runs_of(rounds):
        x, leakage = (np.concatenate([[0.0], run[column]]) for column in (x_column, "leakage_max"))
        curves.append((selector, x, leakage))
    endless = {selector for selector, _, leakage in curves if not np.isfinite(leakage).all()}
    return bands((curve for curve in curves if curve[0] not in endless), step=True)


def time_limit(final_times: Mapping[str, float]) -> float:
    """Where the time axis ends, in simulated seconds, by where each selector's curve ends; see above."""
    longest = max(final_times.values())
    others = [time for name, time in final_times.items() if not SELECTORS[name].takes_everyone]
    limit = max(others, default=longest)
    return longest if longest <= LONG * limit else MARGIN * limit


def on_time_axis(
    curves: Mapping[str, Band], x_column: str = "elapsed_s"
) -> tuple[float, dict[str, tuple[Band, str]]]:
    """Where the time axis ends; each curve up to there, and its label, which says how far it goes on.

    An axis of another ``x_column`` has all of every curve.
    """
    ends = {selector: float(curve.x[-1]) for selector, curve in curves.items()}
    limit = time_limit(ends) if x_column == "elapsed_s" else max(ends.values())
    cut = {}
    for selector, curve in curves.items():
        beyond = f" (to\u00a0{ends[selector]:.0f}\u00a0s)" if ends[selector] > limit else ""
        cut[selector] = curve.until(limit), look_of(selector).label + beyond
    return limit, cut


#: How a thin line of a seed looks, and a band.
_SEED: dict[str, Any] = {"linewidth": 0.45}
_FILLED: dict[str, Any] = {"alpha": 0.18, "linewidth": 0}


def _few(curve: Band) -> bool:
    """Whether each seed is a line of its own."""
    return 1 < curve.n_seeds <= FEW and bool(curve.seeds)


def spread_of(curves: Collection[Band], wide: bool = True) -> dict[str, Any]:
    """Keys of a legend by their words: thin lines of seeds, and bands, or bars if curves are not ``wide``."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    keys: dict[str, Any] = {}
    if any(map(_few, curves)):
        keys["Thin lines: seeds"] = Line2D([], [], color="black", **_SEED)
    if any(curve.n_seeds > 1 and not _few(curve) for curve in curves):
        bar: dict[str, Any] = {"linestyle": "none", "marker": r"$\mathrm{I}$", "markersize": 7}
        if wide:
            keys["Band: range of seeds"] = Patch(facecolor="black", **_FILLED), Line2D([], [], color="black")
        else:
            keys["Bar: range of seeds"] = Line2D([], [], color="black", markeredgewidth=0.2, **bar)
    return keys


def plot_band(
    axes: Axes,
    selector: str,
    curve: Band,
    step: bool = False,
    label: str = "",
    wide: bool = True,
    marked: bool = True,
) -> Line2D:
    """Plot a selector's line and its seeds, as above; ``step`` as in `band`. Returns the line.

    More than `FEW` seeds are a band, or only their mean if the line is not to be ``wide``.
    """
    style, shape = look(selector), "steps-post" if step else "default"
    if _few(curve):
        for x, y in curve.seeds.values():
            own = {"color": style["color"], "zorder": style["zorder"] - 2} | _SEED
            axes.plot(x, y, drawstyle=shape, **own)
    elif curve.n_seeds > 1 and wide:
        filled = {"color": style["color"], "zorder": style["zorder"] - 2} | _FILLED
        axes.fill_between(curve.x, curve.low, curve.high, step="post" if step else None, **filled)
    if not wide:
        style["linewidth"] *= 0.75
    # Marks of different selectors are at different places of the same curve.
    first = 0.02 + 0.4 * (0.618 * list(SELECTORS).index(selector) % 1)
    style |= {"drawstyle": shape, "label": label}
    style |= marker(selector) | {"markevery": (first, 0.4)} if marked else {}
    (line,) = axes.plot(curve.x, curve.mean, **style)
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
    """Plot curves with their ends; returns their lines, the highest end first, labelled for `with_names`.

    Ranges of seeds are bands if curves are to be ``wide``, else bars. The axes reach to ``end``, and lie
    ``between`` two heights. A curve that ends beyond them has no end, and no mark there. A curve of one seed
    among others says so at its end, or where it leaves the axes.
    """
    from matplotlib.patheffects import withStroke

    lines: dict[str, Line2D] = {}
    heights: dict[str, float] = {}
    drawn: list[float] = []
    for selector, curve in curves.items():
        label = labels[selector] + n_seeds_of(curve, curves)
        lines[selector] = line = plot_band(axes, selector, curve, step, label, wide)
        inside = (curve.x <= end) & (between[0] <= curve.mean) & (curve.mean <= between[1])
        last = int(np.flatnonzero(inside)[-1])
        x, heights[selector] = float(curve.x[last]), float(curve.mean[-1])
        own: dict[str, Any] = {"color": line.get_color(), "zorder": line.get_zorder() + 2}
        if whole := last == len(curve.x) - 1:
            axes.plot(x, curve.mean[-1], linestyle="none", clip_on=False, **own, **marker(selector))
        apart = curve.high[-1] > curve.low[-1] + 0.01 * abs(heights[selector])
        if whole and curve.n_seeds > FEW and not wide and apart:
            beside = sum(abs(x - other) < NEAR * max(drawn) for other in drawn)
            span = {
                "linewidth": 0.9,
                "marker": "_",
                "clip_on": False,
                "transform": _moved(axes, 4 + 3.5 * beside),
            }
            axes.plot([x, x], [curve.low[-1], curve.high[-1]], **span, **own)
            drawn.append(x)
        if curve.n_seeds == 1 and _most(curves) > 1:
            halo = [withStroke(linewidth=1.6, foreground="white")]
            axes.annotate("n = 1", (x, curve.mean[last]), (-1, 3), **_WORDS, **own, path_effects=halo)
    return [lines[selector] for selector in sorted(lines, key=lambda one: -heights[one])]


#: Words above a point, to its left.
_WORDS: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small", "ha": "right", "va": "bottom"}


def _moved(axes: Axes, points: float) -> Any:
    """The transformation of data, moved to the right by some points."""
    from matplotlib.transforms import offset_copy

    return offset_copy(axes.transData, axes.get_figure(root=True), x=points, units="points")


def with_names(figure: Figure, lines: Sequence[Line2D], curves: Mapping[str, Band]) -> Figure:
    """The figure with the names of lines to the right of its first axes, in their order.

    Above them is the number of seeds, unless a name has another; below them, how seeds are shown. The figure
    grows if the names need it.
    """
    wide = len(curves) <= MOST_BANDS
    spread = spread_of(curves.values(), wide)
    most = _most(curves)
    several = len({curve.n_seeds for curve in curves.values()}) > 1
    title = f"n = {most}" + (" unless stated" if several else " seed" if most == 1 else " seeds")
    words = [*(str(line.get_label()) for line in lines), *spread]
    names = ["\n".join(textwrap.wrap(one, NAME_WIDTH)) for one in words]
    right = (1 - NEAR) * figure.axes[0].get_xlim()[1]
    intervals = sum(curve.n_seeds > FEW and curve.x[-1] > right for curve in curves.values())
    legend = figure.axes[0].legend(
        [*lines, *spread.values()],
        names,
        title=title,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        borderaxespad=1.2 + 0.5 * intervals * (not wide),
        fontsize="small",
        title_fontsize="small",
        alignment="left",
        handlelength=2.2,
        handletextpad=0.5,
    )
    for text in legend.get_texts():
        text.set_linespacing(0.9)
    rows = 1 + sum(1.25 + name.count("\n") for name in names)
    needed = 0.3 + 0.115 * rows
    figure.set_figheight(max(figure.get_figheight(), needed))
    return figure


def n_seeds_of(curve: Band, curves: Mapping[str, Band]) -> str:
    """What a curve's name says of its seeds: how many, where others have more."""
    return f", n\u00a0=\u00a0{curve.n_seeds}" if curve.n_seeds < _most(curves) else ""


def _most(curves: Mapping[str, Band]) -> int:
    return max(curve.n_seeds for curve in curves.values())


def exploding(curves: Mapping[str, Band], shown: Shown) -> set[str]:
    """Selectors whose loss exceeds `LOG_SPAN` times that at the start, if others' does not."""
    if shown.column != "loss":
        return set()
    most = LOG_SPAN * max(curve.mean[0] for curve in curves.values())
    far = {name for name, curve in curves.items() if curve.mean[np.isfinite(curve.mean)].max() > most}
    return far if len(far) < len(curves) else set()


def check_curves(curves: Mapping[str, Band], scenario: Scenario, y_label: str) -> None:
    """Raise `PauseflError` if there is no curve."""
    if not curves:
        what = " ".join(y_label.split())
        raise PauseflError(f"scenario '{scenario.name}': no run has finite values of '{what}' to plot")


def ends(curves: Mapping[str, Band], shown: Shown) -> pd.DataFrame:
    """The numbers of a figure: the end of each curve, with the range of its seeds."""
    rows = [
        {
            "Selector": look_of(selector).label,
            "Seeds": curve.n_seeds,
            shown.x_label: curve.x[-1],
            " ".join(shown.y_label.split()): curve.mean[-1],
            "Lowest seed": curve.low[-1],
            "Highest seed": curve.high[-1],
        }
        for selector, curve in curves.items()
    ]
    return pd.DataFrame(rows)


def leakage_label(scenario: Scenario) -> str:
    """What an axis of leakage shows."""
    return f"Maximum leakage\n(ε per {protected(scenario)})"


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
        axes.annotate(
            f"budget ε = {budget:,.10g}",
            xy=(1, budget),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=8,
        )
