"""Curves of a scenario's runs: accuracy, loss and leakage against simulated time or rounds.

A line is the mean over seeds, a band their minimum and maximum. Each seed's rounds end at its own times;
seeds are interpolated onto the union of those times. A curve ends where the first of its seeds ends.

Time axis
    FedAvg waits for all users (and under R2 for all overlaps). Where it lasts more than `LONG` times as long
    as every other selector, the axis ends at `MARGIN` times the longest of those, and the legend gives the
    end of the curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Band:
    """One selector's curve over its seeds.

    Attributes
    ----------
    x
        Shape (n,), increasing.
    mean, low, high
        Shape (n,) each: mean, minimum and maximum over seeds at ``x``.
    n_seeds
        With one seed there is no band.
    """

    x: Array
    mean: Array
    low: Array
    high: Array
    n_seeds: int


def band(seeds: Sequence[tuple[Array, Array]], step: bool = False) -> Band:
    """Mean, minimum and maximum of several curves where all of them are defined.

    Parameters
    ----------
    seeds
        One (x, y) a seed, x increasing, shape (n,) each; lengths may differ.
    step
        Whether a curve keeps its value until its next x, instead of going there in a straight line.
    """
    start = max(x[0] for x, _ in seeds)
    end = min(x[-1] for x, _ in seeds)
    knots = np.unique(np.concatenate([x for x, _ in seeds]))
    grid = knots[(knots >= start) & (knots <= end)]
    rows = np.stack([_at(grid, x, y, step) for x, y in seeds])
    return Band(grid, rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0), len(rows))


def _at(grid: Array, x: Array, y: Array, step: bool) -> Array:
    if step:
        return y[np.searchsorted(x, grid, side="right") - 1]
    return np.interp(grid, x, y)


def smoothed_bands(rounds: pd.DataFrame, column: str, scale: float = 1.0) -> dict[str, Band]:
    """Bands over time of the moving average of ``accuracy`` or ``loss``, of all trained selectors.

    Rounds without evaluation are skipped over. ``scale`` multiplies the values (100 for per cent).
    """
    seeds: dict[str, list[tuple[Array, Array]]] = {}
    for selector, _, run in runs_of(rounds):
        elapsed, values = smoothed(run, column)
        if len(values):
            seeds.setdefault(selector, []).append((elapsed, scale * values))
    return {selector: band(seeds[selector]) for selector in in_legend_order(seeds)}


def leakage_bands(rounds: pd.DataFrame, x_column: str) -> dict[str, Band]:
    """Bands of the maximum leakage over users against ``elapsed_s`` or ``round``.

    A step function that starts from nothing at 0. Selectors of infinite leakage are left out.
    """
    seeds: dict[str, list[tuple[Array, Array]]] = {}
    for selector, _, run in runs_of(rounds):
        x = np.concatenate([[0.0], run[x_column].to_numpy(dtype=np.float64)])
        leakage = np.concatenate([[0.0], run["leakage_max"].to_numpy(dtype=np.float64)])
        seeds.setdefault(selector, []).append((x, leakage))
    finite = [s for s, curves in seeds.items() if all(np.isfinite(y).all() for _, y in curves)]
    return {selector: band(seeds[selector], step=True) for selector in in_legend_order(finite)}


def time_limit(final_times: Mapping[str, float]) -> float:
    """Where the time axis ends, in simulated seconds; see the module's text.

    Parameters
    ----------
    final_times
        Where each selector's curve ends.
    """
    longest = max(final_times.values())
    others = [time for name, time in final_times.items() if not SELECTORS[name].takes_everyone]
    limit = max(others, default=longest)
    return longest if longest <= LONG * limit else MARGIN * limit


def plot_accuracy_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Test accuracy in per cent against simulated seconds, trailing mean over 10 rounds.

    A thin line marks the target accuracy of the summary table; a dot on it marks each selector all of
    whose seeds reach it, at the mean over seeds of the seconds to target.
    """
    panel = _over_time(smoothed_bands(rounds, "accuracy", scale=100), scenario, "Test accuracy (%)")
    panel.axes.set_ylim(bottom=0)
    if not np.isnan(target_accuracy(rounds)):
        _mark_target(panel, rounds)
    _add_authors(panel, scenario, "accuracy", scale=100)
    return panel.finish()


def plot_loss_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Test loss against simulated seconds, trailing mean over 10 rounds.

    The axis is logarithmic where the means span more than `LOG_SPAN`, as they do once noise takes over.
    """
    label = "Test loss\n(mean squared error)" if is_regression(scenario) else "Test loss"
    panel = _over_time(smoothed_bands(rounds, "loss"), scenario, label)
    means = np.concatenate([np.asarray(line.get_ydata()) for line in panel.lines.values()])
    means = means[np.isfinite(means)]
    if means.size and means.min() > 0 and means.max() > LOG_SPAN * means.min():
        panel.axes.set_yscale("log")
    _add_authors(panel, scenario, "loss")
    return panel.finish()


def plot_leakage_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Maximum leakage over users (epsilon of what the mechanism protects) against simulated seconds."""
    panel = _over_time(leakage_bands(rounds, "elapsed_s"), scenario, leakage_label(scenario), step=True)
    mark_budget(panel.axes, scenario)
    _add_authors(panel, scenario, "leakage_max")
    return panel.finish()


def plot_leakage_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Figure:
    """Maximum leakage over users (epsilon of what the mechanism protects) against rounds."""
    panel = Panel(scenario, "Round", leakage_label(scenario))
    bands = leakage_bands(rounds, "round")
    for selector, curve in bands.items():
        panel.add(selector, curve, look_of(selector).label, step=True)
    panel.axes.set_xlim(0, max((curve.x[-1] for curve in bands.values()), default=1))
    mark_budget(panel.axes, scenario)
    _add_authors(panel, scenario, "leakage_max", x_column="round")
    return panel.finish()


def leakage_label(scenario: Scenario) -> str:
    """What an axis of leakage shows."""
    return f"Maximum leakage\n(ε per {protected(scenario)})"


def plot_band(axes: Axes, selector: str, curve: Band, step: bool = False) -> Line2D:
    """Plot a selector's line with its band, if it has more than one seed; ``step`` as in `band`.

    Returns the line.
    """
    style = look(selector)
    if curve.n_seeds > 1:
        axes.fill_between(
            curve.x,
            curve.low,
            curve.high,
            step="post" if step else None,
            color=style["color"],
            alpha=0.18,
            linewidth=0,
            zorder=style["zorder"] - 2,
        )
    (line,) = axes.plot(curve.x, curve.mean, drawstyle="steps-post" if step else "default", **style)
    return line


class Panel:
    """One pair of axes with a line and a band per selector, and the legend below them.

    Use it inside `pausefl.figures.style.theme`.

    Parameters
    ----------
    scenario
        Gives the title.
    x_label, y_label
        What the axes show, with units.
    """

    def __init__(self, scenario: Scenario, x_label: str, y_label: str) -> None:
        self.figure, self.axes = new_figure()
        title = title_lines(scenario.title)
        self.axes.set_title("\n".join(title), loc="left", linespacing=1.0)
        self.axes.set_xlabel(x_label)
        self.axes.set_ylabel(y_label, linespacing=0.9)
        #: The line of every selector.
        self.lines: dict[str, Line2D] = {}
        self._scenario = scenario
        self._title_rows = len(title)
        self._legend: list[tuple[Line2D, str]] = []

    def add(self, selector: str, curve: Band, label: str, step: bool = False) -> None:
        """Plot one selector; ``step`` as in `band`."""
        line = plot_band(self.axes, selector, curve, step)
        self.lines[selector] = line
        self.explain(line, label)

    def explain(self, line: Line2D, label: str) -> None:
        """Append an entry to the legend."""
        self._legend.append((line, label))

    def finish(self) -> Figure:
        """Put the legend below the axes, where it covers no curve, and make room for it.

        Raises
        ------
        PauseflError
            If there is no line.
        """
        if not self.lines:
            what = " ".join(self.axes.get_ylabel().split())
            raise PauseflError(
                f"scenario '{self._scenario.name}': no run has finite values of '{what}' to plot"
            )
        handles, labels = zip(*self._legend, strict=True)
        self.figure.legend(handles, labels, loc="outside lower center", ncols=2)
        rows = self._title_rows + (len(labels) + 1) // 2
        self.figure.set_figheight(2.25 + 0.15 * rows)
        return self.figure


def _over_time(bands: Mapping[str, Band], scenario: Scenario, y_label: str, step: bool = False) -> Panel:
    """Curves over simulated time."""
    panel = Panel(scenario, "Simulated time (s)", y_label)
    if not bands:
        return panel
    limit, cut = on_time_axis(bands)
    for selector, (curve, label) in cut.items():
        panel.add(selector, curve, label, step)
    panel.axes.set_xlim(0, limit)
    return panel


def _add_authors(
    panel: Panel, scenario: Scenario, column: str, scale: float = 1.0, x_column: str = "elapsed_s"
) -> None:
    """The authors' runs of the selectors on a panel, if there are any, in the same colours.

    Accuracy and loss of archived runs are thin lines, smoothed like ours. Circles are single rounds: the
    rounds that were read off a log, and the four that have a leakage in the archive. The axis of x stays as
    it is, and that of y makes room for circles of accuracy.
    """
    from matplotlib.lines import Line2D

    log = logged(scenario)
    runs = {name: run for name, run in (log or archived(scenario.name)).items() if name in panel.lines}
    single = bool(log) or column == "leakage_max"
    if single:
        runs = {name: run.dropna(subset=column) for name, run in runs.items() if run[column].notna().any()}
    if not runs:
        return
    axes = panel.axes
    (start, end), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    look = _POINTS if log else _CIRCLES if single else _THIN
    for selector, run in runs.items():
        style = look_of(selector)
        if single:
            x, y = run[x_column].to_numpy(np.float64), run[column].to_numpy(np.float64)
        else:
            x, y = smoothed(run, column)
        shown = x <= end
        axes.plot(x[shown], scale * y[shown], color=style.color, zorder=style.zorder + 1, **look)
        if log and column == "accuracy":
            top = max(top, 1.03 * scale * float(y[shown].max(initial=0.0)))
    axes.set_xlim(start, end)
    axes.set_ylim(bottom, top)
    seed = log_of(scenario.name)["seed"] if log else 0
    what = "Circles" if single else "Thin"
    panel.explain(Line2D([], [], color="0.35", **look), f"{what}: authors' run, seed {seed}")


def on_time_axis(bands: Mapping[str, Band]) -> tuple[float, dict[str, tuple[Band, str]]]:
    """Where the time axis ends; each curve up to there, and its label, which says how far it goes on."""
    ends = {selector: float(curve.x[-1]) for selector, curve in bands.items()}
    limit = time_limit(ends)
    cut = {}
    for selector, curve in bands.items():
        beyond = f" (to {ends[selector]:.0f} s)" if ends[selector] > limit else ""
        cut[selector] = _up_to(curve, limit), look_of(selector).label + beyond
    return limit, cut


def _up_to(curve: Band, limit: float) -> Band:
    """The curve up to its first knot beyond the limit: what lies further off must not scale the y axis."""
    n = int(np.searchsorted(curve.x, limit)) + 1
    return Band(curve.x[:n], curve.mean[:n], curve.low[:n], curve.high[:n], curve.n_seeds)


def mark_budget(axes: Axes, scenario: Scenario, words: bool = True) -> None:
    """A thin line at the total budget, which no curve may cross; ``words`` says whether it is named."""
    axes.set_ylim(bottom=0)
    if scenario.privacy is None:
        return
    budget = scenario.privacy.epsilon_total
    axes.set_ylim(top=max(1.12 * budget, axes.get_ylim()[1]))
    axes.axhline(budget, color="black", linewidth=0.6, zorder=2.5)
    if not words:
        return
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


def _mark_target(panel: Panel, rounds: pd.DataFrame) -> None:
    """Target line and dots. A dot that would hide another hangs below it."""
    from matplotlib.lines import Line2D
    from matplotlib.transforms import offset_copy

    target, axes = target_accuracy(rounds), panel.axes
    dot: dict[str, Any] = {"marker": "o", "markeredgecolor": "white", "markeredgewidth": 0.6}
    line = axes.axhline(100 * target, color="black", linewidth=0.5, zorder=2.5)
    times: dict[str, list[float]] = {}
    for selector, _, run in runs_of(rounds):
        times.setdefault(selector, []).append(seconds_to_target(run, target))
    drawn: list[float] = []
    near = DOT_WIDTH * float(np.ptp(axes.get_xlim()))
    for selector in panel.lines:
        style, reached = look_of(selector), float(np.mean(times[selector]))
        if np.isfinite(reached):
            level = sum(abs(reached - other) < near for other in drawn)
            place = offset_copy(axes.transData, panel.figure, y=-5 * level, units="points")
            looks = dot | {"color": style.color, "zorder": style.zorder + 2, "transform": place}
            axes.plot([reached], [100 * target], linestyle="none", markersize=3.2 * style.width, **looks)
            drawn.append(reached)
    key = Line2D([], [], color="black", linewidth=line.get_linewidth(), markersize=4.2, **dot)
    panel.explain(key, f"Target {100 * target:.1f} %")
