"""Accuracy, loss and leakage of a scenario's runs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from pausefl.analysis.figures.beside import ReferenceRuns, Source, plot_beside
from pausefl.analysis.figures.curves import (
    THIN,
    Band,
    Shown,
    ends,
    in_colour,
    leakage_bands,
    leakage_label,
    on_time_axis,
    plot_band,
    plot_curves,
    smoothed_bands,
    with_names,
)
from pausefl.analysis.figures.panels import NOTE, Plotted
from pausefl.analysis.figures.style import look, new_figure
from pausefl.analysis.outcomes import WINDOW, seconds_to_target, target_accuracy
from pausefl.errors import PauseflError
from pausefl.runs.run import Rounds, runs_of
from pausefl.selectors import look_of
from pausefl.settings import Scenario

#: Losses whose means span more than this ratio are on a logarithmic axis, which ends at this many times the
#: first loss: noise can make losses grow without end.
LOG_SPAN = 8.0


def plot_accuracy_vs_time(
    rounds: Rounds, scenario: Scenario, window: int = WINDOW, source: Source | None = None
) -> Plotted:
    """Test accuracy in per cent against simulated seconds, trailing mean over a window of rounds.

    A thin line is the target accuracy of the summary table, and the numbers have the mean seconds to it where
    all seeds reach it. There is neither where the target is hardly above the start, as where nobody learns.
    """
    shown = Shown("accuracy", "Test accuracy (%)", scale=100, window=window)
    curves, target = _curves(rounds, scenario, shown), target_accuracy(rounds)
    numbers, across = ends(curves, shown), dict[str, float]()
    if not np.isnan(target):
        across[f"Target {100 * target:.1f} %"] = 100 * target
        seconds = _seconds_to(target, rounds)
        numbers[f"To {100 * target:.1f} % (s)"] = [float(np.mean(seconds[name])) for name in curves]
    return Plotted(_plot(curves, scenario, shown, source, across), numbers=numbers)


def plot_time_to_target(rounds: Rounds, scenario: Scenario) -> Plotted:
    """When each selector reaches the target accuracy: curves as in `plot_accuracy_vs_time`, fewer and marked.

    Selectors are those with the most seeds that reach the target in each, up to `MOST_COLOURED`. A dot is at
    the mean of the seconds of their seeds, and an arrow leads from the first of them to random selection's.
    Where there is no target, or nobody reaches it, it is the figure of `plot_accuracy_vs_time`.
    """
    axis, target = Shown("accuracy", "Test accuracy (%)", scale=100), target_accuracy(rounds)
    curves, seconds = _curves(rounds, scenario, axis), _seconds_to(target, rounds)
    most = max(map(len, seconds.values()))
    means = {name: float(np.mean(seconds[name])) for name in curves if len(seconds[name]) == most}
    reached = {name: mean for name, mean in means.items() if np.isfinite(mean)}
    if not reached:
        return plot_accuracy_vs_time(rounds, scenario)
    times = {name: mean for mean, name in sorted((reached[name], name) for name in in_colour(reached))}
    end, height = 1.35 * max(times.values()), 100 * target
    figure, axes = new_figure(2.6)
    lines = []
    for name, mean in reversed(times.items()):
        lines.append(plot_band(axes, curves[name].until(end), **look(name)))
        lines[-1].set_label(f"{look_of(name).label}: after\u00a0{mean:.0f}\u00a0s")
        axes.plot(mean, height, "o", color=look(name)["color"], markersize=5, zorder=3)
    axes.axhline(height, **THIN)
    axes.annotate(f"target: {height:.0f} %", (0, height), (3, 3), **NOTE)
    _mark_lag(axes, min(times.values()), times.get("random", np.nan), height)
    axes.set(xlabel=axis.x_label, ylabel=axis.y_label, xlim=(0, end), ylim=(0, 100))
    labels = [look_of(name).label for name in means]
    numbers = pd.DataFrame({"Selector": labels, f"To {height:.1f} % (s)": [*means.values()]})
    return Plotted(with_names(figure, lines, {name: curves[name] for name in times}), numbers=numbers)


def _mark_lag(axes: Axes, first: float, later: float, height: float) -> None:
    """An arrow from one time to a later one, below the height at which both are; none if it is not later."""
    if not later > first:
        return
    low = 0.45 * height
    arrow = {"arrowstyle": "<->", "color": "black", "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (first, low), (later, low), arrowprops=arrow)
    axes.vlines([first, later], low, height, color="black", linewidth=0.5, linestyle=":")
    place = ((first + later) / 2, low), (0, -3)
    axes.annotate(f"{later - first:.0f} s\nlater", *place, ha="center", va="top", **NOTE)


def _seconds_to(target: float, rounds: Rounds) -> dict[str, list[float]]:
    """By selector, the seconds to a target accuracy of each of its runs; NaN where it is not reached."""
    seconds: dict[str, list[float]] = {}
    for selector, _, run in runs_of(rounds):
        seconds.setdefault(selector, []).append(seconds_to_target(run, target))
    return seconds


def plot_loss_vs_time(
    rounds: Rounds, scenario: Scenario, window: int = WINDOW, source: Source | None = None
) -> Plotted:
    """Test loss against simulated seconds, trailing mean over a window of rounds; see `LOG_SPAN`."""
    label = "Test loss\n(mean squared error)" if scenario.is_regression else "Test loss"
    shown = Shown("loss", label, window=window)
    curves = _curves(rounds, scenario, shown)
    return Plotted(_plot(curves, scenario, shown, source), numbers=ends(curves, shown))


def plot_leakage_vs_time(
    rounds: Rounds,
    scenario: Scenario,
    x_column: str = "elapsed_s",
    x_label: str = Shown.x_label,
    source: Source | None = None,
) -> Plotted:
    """Largest budget spent over users (epsilon of what the mechanism protects) against simulated seconds."""
    shown = Shown("leakage_max", leakage_label(scenario), x_column, x_label)
    curves = _curves(rounds, scenario, shown)
    budget = scenario.privacy.epsilon_total if scenario.privacy else np.nan
    across = {f"Budget ε = {budget:,.10g}": budget} if np.isfinite(budget) else {}
    return Plotted(_plot(curves, scenario, shown, source, across), numbers=ends(curves, shown))


def plot_leakage_vs_rounds(rounds: Rounds, scenario: Scenario, source: Source | None = None) -> Plotted:
    """Largest budget spent over users (epsilon of what the mechanism protects) against rounds."""
    return plot_leakage_vs_time(rounds, scenario, "round", "Round", source)


def _curves(rounds: Rounds, scenario: Scenario, shown: Shown) -> dict[str, Band]:
    """The curves of a figure by selector; `PauseflError` if there is none."""
    if shown.is_leakage:
        curves = leakage_bands(rounds, shown.x_column)
    else:
        curves = smoothed_bands(rounds, shown.column, shown.scale, shown.window)
    curves = {name: curve for name, curve in curves.items() if np.isfinite(curve.mean).any()}
    if not curves:
        what = f"no run has finite values of '{shown.quantity}' to plot"
        raise PauseflError(f"scenario '{scenario.name}': {what}")
    return curves


def _plot(
    curves: Mapping[str, Band],
    scenario: Scenario,
    shown: Shown,
    source: Source | None,
    across: Mapping[str, float] = MappingProxyType({}),
) -> Figure:
    """Curves in one panel, or in a panel each where values of a ``source`` stand beside them.

    ``across`` are heights of thin lines across the panels, by their names.
    """
    limit, inside, labels = on_time_axis(curves, shown.x_column)
    beside = source(scenario, shown, curves) if source else ReferenceRuns()
    lines: list[Line2D] = []
    if beside.points:
        figure = plot_beside(inside, beside, limit, shown, across)
    else:
        figure, axes = new_figure(2.35)
        axes.set_xlabel(shown.x_label)
        axes.set_ylabel(shown.y_label, linespacing=0.9)
        lines = plot_curves(axes, inside, labels, shown.is_leakage)
        lines += [axes.axhline(height, label=name, **THIN) for name, height in across.items()]
    for axes in figure.axes:
        axes.set_xlim(0, limit)
        if shown.column == "loss":
            _fit_losses(axes, inside)
        else:
            axes.set_ylim(bottom=0)
    return with_names(figure, lines, curves) if lines else figure


def _fit_losses(axes: Axes, curves: Mapping[str, Band]) -> None:
    """Give axes of losses their scale and their end; see `LOG_SPAN`."""
    means = np.concatenate([curve.mean[np.isfinite(curve.mean)] for curve in curves.values()])
    top = LOG_SPAN * max(curve.mean[0] for curve in curves.values())
    if 0 < LOG_SPAN * means.min() < means.max():
        axes.set_yscale("log")
        decades = np.log10(min(means.max(), top) / means.min())
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2 else (1,)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_locator(NullLocator())
    if means.max() > top:
        axes.set_ylim(means.min() / 1.1, top)
