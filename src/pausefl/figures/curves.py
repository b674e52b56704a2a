"""Curves of a scenario's runs: accuracy, loss and leakage against simulated time or rounds.

A line is the mean over seeds, a band their minimum and maximum. Each seed's rounds end at its own times;
seeds are interpolated onto the union of those times. A curve ends where the first of its seeds ends.

Time axis
    FedAvg waits for all users (and under R2 for all overlaps). Where it lasts more than `LONG` times as long
    as every other selector, the axis ends at `MARGIN` times the longest of those, and the legend gives the
    end of the curve.

Bands are Matplotlib's: seaborn's ``lineplot`` aggregates each abscissa on its own, which takes 13 s for the
10 selectors, 3 seeds and 1,000 rounds of a figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pausefl.errors import PauseflError
from pausefl.figures.style import look, new_figure, title_lines
from pausefl.registry import SELECTORS
from pausefl.registry.figures import is_regression, protected
from pausefl.registry.selectors import in_legend_order, look_of
from pausefl.results.archive import archived, log_of, logged
from pausefl.results.outcomes import seconds_to_target, smoothed, target_accuracy
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

#: Share of the axis of time within which two dots hide one another.
DOT_WIDTH = 0.02

Array = NDArray[np.float64]

#: How runs of the authors look: their curves, what the archive has at single rounds, and rounds of a log.
_THIN: dict[str, Any] = {"linewidth": 0.6}
_CIRCLES: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 3.4,
    "markerfacecolor": "white",
    "clip_on": False,
}
_POINTS: dict[str, Any] = _CIRCLES | {"markersize": 2.6, "markeredgewidth": 0.5, "clip_on": True}
_DOT: dict[str, Any] = {"marker": "o", "markeredgecolor": "white", "markeredgewidth": 0.6}


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
        n = int(np.searchsorted(self.x, limit)) + 1
        return Band(self.x[:n], self.mean[:n], self.low[:n], self.high[:n], self.n_seeds)


def band(seeds: Sequence[tuple[Array, Array]], step: bool = False) -> Band:
    """Mean, minimum and maximum of several curves where all of them are defined.

    Each seed has an (x, y), x increasing, shape (n,) each; n may differ. A curve is straight from one x to
    the next, or keeps its value until there if it is to ``step``.
    """
    start = max(x[0] for x, _ in seeds)
    end = min(x[-1] for x, _ in seeds)
    knots = np.unique(np.concatenate([x for x, _ in seeds]))
    grid = knots[(knots >= start) & (knots <= end)]
    if step:
        rows = np.stack([y[np.searchsorted(x, grid, side="right") - 1] for x, y in seeds])
    else:
        rows = np.stack([np.interp(grid, x, y) for x, y in seeds])
    return Band(grid, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0), len(rows))


def bands(curves: Iterable[tuple[str, ArrayLike, ArrayLike]], step: bool = False) -> dict[str, Band]:
    """The `band` of each selector, in legend order, from the selector, x and y of each run."""
    seeds: dict[str, list[tuple[Array, Array]]] = {}
    for selector, x, y in curves:
        seeds.setdefault(selector, []).append((np.asarray(x, np.float64), np.asarray(y, np.float64)))
    return {selector: band(seeds[selector], step) for selector in in_legend_order(seeds)}


def smoothed_bands(rounds: pd.DataFrame, column: str, scale: float = 1.0) -> dict[str, Band]:
    """Bands over time of the moving average of ``accuracy`` or ``loss``, of all trained selectors.

    Rounds without evaluation are skipped over. ``scale`` multiplies the values (100 for per cent).
    """
    curves = ((selector, *smoothed(run, column)) for selector, _, run in runs_of(rounds))
    return bands((selector, x, scale * y) for selector, x, y in curves if len(y))


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


def on_time_axis(curves: Mapping[str, Band]) -> tuple[float, dict[str, tuple[Band, str]]]:
    """Where the time axis ends; each curve up to there, and its label, which says how far it goes on."""
    ends = {selector: float(curve.x[-1]) for selector, curve in curves.items()}
    limit = time_limit(ends)
    cut = {}
    for selector, curve in curves.items():
        beyond = f" (to {ends[selector]:.0f} s)" if ends[selector] > limit else ""
        cut[selector] = curve.until(limit), look_of(selector).label + beyond
    return limit, cut


def plot_band(axes: Axes, selector: str, curve: Band, step: bool = False, label: str = "") -> Line2D:
    """Plot a selector's line, and its band over several seeds; ``step`` as in `band`. Returns the line."""
    style = look(selector)
    if curve.n_seeds > 1:
        shape = {"color": style["color"], "alpha": 0.18, "linewidth": 0, "zorder": style["zorder"] - 2}
        axes.fill_between(curve.x, curve.low, curve.high, step="post" if step else None, **shape)
    style |= {"drawstyle": "steps-post" if step else "default"} | ({"label": label} if label else {})
    (line,) = axes.plot(curve.x, curve.mean, **style)
    return line


def plot_accuracy_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Test accuracy in per cent against simulated seconds, trailing mean over 10 rounds.

    A thin line marks the target accuracy of the summary table; a dot on it marks each selector all of
    whose seeds reach it, at the mean over seeds of the seconds to target.
    """
    curves = smoothed_bands(rounds, "accuracy", scale=100)
    figure, axes = _over_time(curves, scenario, "Test accuracy (%)")
    axes.set_ylim(bottom=0)
    target = _mark_target(axes, curves, rounds)
    return with_legend(figure, *target, *_add_authors(axes, curves, scenario, "accuracy", scale=100))


def plot_loss_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Test loss against simulated seconds, trailing mean over 10 rounds.

    The axis is logarithmic where the means span more than `LOG_SPAN`, as they do once noise takes over.
    """
    curves = smoothed_bands(rounds, "loss")
    label = "Test loss\n(mean squared error)" if is_regression(scenario) else "Test loss"
    figure, axes = _over_time(curves, scenario, label)
    means = np.concatenate([np.asarray(line.get_ydata()) for line in axes.lines])
    means = means[np.isfinite(means)]
    if means.size and means.min() > 0 and means.max() > LOG_SPAN * means.min():
        axes.set_yscale("log")
    return with_legend(figure, *_add_authors(axes, curves, scenario, "loss"))


def plot_leakage_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Maximum leakage over users (epsilon of what the mechanism protects) against simulated seconds."""
    curves = leakage_bands(rounds, "elapsed_s")
    figure, axes = _over_time(curves, scenario, leakage_label(scenario), step=True)
    mark_budget(axes, scenario)
    return with_legend(figure, *_add_authors(axes, curves, scenario, "leakage_max"))


def plot_leakage_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Maximum leakage over users (epsilon of what the mechanism protects) against rounds."""
    curves = leakage_bands(rounds, "round")
    figure, axes = new_panel(curves, scenario, "Round", leakage_label(scenario))
    for selector, curve in curves.items():
        plot_band(axes, selector, curve, step=True, label=look_of(selector).label)
    axes.set_xlim(0, max(curve.x[-1] for curve in curves.values()))
    mark_budget(axes, scenario)
    return with_legend(figure, *_add_authors(axes, curves, scenario, "leakage_max", x_column="round"))


def leakage_label(scenario: Scenario) -> str:
    """What an axis of leakage shows."""
    return f"Maximum leakage\n(ε per {protected(scenario)})"


def new_panel(
    curves: Mapping[str, Band], scenario: Scenario, x_label: str, y_label: str
) -> tuple[Figure, Axes]:
    """A figure with one pair of axes for curves; call it, and plot, inside `pausefl.figures.style.theme`.

    Raises
    ------
    PauseflError
        If there is no curve.
    """
    if not curves:
        what = " ".join(y_label.split())
        raise PauseflError(f"scenario '{scenario.name}': no run has finite values of '{what}' to plot")
    figure, axes = new_figure()
    axes.set_title("\n".join(title_lines(scenario.title)), loc="left", linespacing=1.0)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label, linespacing=0.9)
    return figure, axes


def with_legend(figure: Figure, *more: Line2D) -> Figure:
    """The figure with a legend below its axes, where it covers no curve, and room for it.

    The legend has the lines that have labels, then those of ``more``.
    """
    (axes,) = figure.axes
    handles = [*axes.get_legend_handles_labels()[0], *more]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    rows = axes.get_title(loc="left").count("\n") + 1 + (len(handles) + 1) // 2
    figure.set_figheight(2.25 + 0.15 * rows)
    return figure


def _over_time(
    curves: Mapping[str, Band], scenario: Scenario, y_label: str, step: bool = False
) -> tuple[Figure, Axes]:
    """Curves over simulated time."""
    figure, axes = new_panel(curves, scenario, "Simulated time (s)", y_label)
    limit, cut = on_time_axis(curves)
    for selector, (curve, label) in cut.items():
        plot_band(axes, selector, curve, step, label)
    axes.set_xlim(0, limit)
    return figure, axes


def _add_authors(
    axes: Axes,
    shown: Iterable[str],
    scenario: Scenario,
    column: str,
    scale: float = 1.0,
    x_column: str = "elapsed_s",
) -> list[Line2D]:
    """Plot the authors' runs of the selectors that are shown, if there are any; what explains them.

    Accuracy and loss of archived runs are thin lines, smoothed like ours. Circles are single rounds: the
    rounds that were read off a log, and the four that have a leakage in the archive. The axis of x stays as
    it is, and that of y makes room for circles of accuracy.
    """
    from matplotlib.lines import Line2D

    log = logged(scenario)
    theirs = log or archived(scenario.name)
    runs = {name: theirs[name] for name in shown if name in theirs}
    single = bool(log) or column == "leakage_max"
    if single:
        runs = {name: run.dropna(subset=column) for name, run in runs.items() if run[column].notna().any()}
    if not runs:
        return []
    (start, end), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    style = _POINTS if log else _CIRCLES if single else _THIN
    for selector, run in runs.items():
        own = look_of(selector)
        if single:
            x, y = run[x_column].to_numpy(np.float64), run[column].to_numpy(np.float64)
        else:
            x, y = smoothed(run, column)
        inside = x <= end
        axes.plot(x[inside], scale * y[inside], color=own.color, zorder=own.zorder + 1, **style)
        if log and column == "accuracy":
            top = max(top, 1.03 * scale * float(y[inside].max(initial=0.0)))
    axes.set_xlim(start, end)
    axes.set_ylim(bottom, top)
    seed = log_of(scenario.name)["seed"] if log else 0
    label = f"{'Circles' if single else 'Thin'}: authors' run, seed {seed}"
    return [Line2D([], [], color="0.35", label=label, **style)]


def mark_budget(axes: Axes, scenario: Scenario, words: bool = True) -> None:
    """A thin line at the total budget, which no curve may cross; ``words`` says whether it is named."""
    axes.set_ylim(bottom=0)
    if scenario.privacy is None:
        return
    budget = scenario.privacy.epsilon_total
    axes.set_ylim(top=max(1.12 * budget, axes.get_ylim()[1]))
    axes.axhline(budget, color="black", linewidth=0.6, zorder=2.5)
    if words:
        axes.annotate(
            f"budget ε = {budget:g}",
            xy=(1, budget),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=8,
        )


def _mark_target(axes: Axes, shown: Iterable[str], rounds: pd.DataFrame) -> list[Line2D]:
    """Plot the target line, if there is a target, and dots; what explains them.

    A dot that would hide another hangs below it.
    """
    from matplotlib.lines import Line2D
    from matplotlib.transforms import offset_copy

    target = target_accuracy(rounds)
    if np.isnan(target):
        return []
    line = axes.axhline(100 * target, color="black", linewidth=0.5, zorder=2.5)
    times: dict[str, list[float]] = {}
    for selector, _, run in runs_of(rounds):
        times.setdefault(selector, []).append(seconds_to_target(run, target))
    drawn: list[float] = []
    near = DOT_WIDTH * float(np.ptp(axes.get_xlim()))
    for selector in shown:
        own, reached = look_of(selector), float(np.mean(times[selector]))
        if np.isfinite(reached):
            level = sum(abs(reached - other) < near for other in drawn)
            place = offset_copy(axes.transData, axes.get_figure(root=True), y=-5 * level, units="points")
            looks = _DOT | {"color": own.color, "zorder": own.zorder + 2, "transform": place}
            axes.plot([reached], [100 * target], linestyle="none", markersize=3.2 * own.width, **looks)
            drawn.append(reached)
    label, width = f"Target {100 * target:.1f} %", line.get_linewidth()
    return [Line2D([], [], color="black", linewidth=width, markersize=4.2, label=label, **_DOT)]
