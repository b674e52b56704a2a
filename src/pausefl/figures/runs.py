"""Accuracy, loss and leakage of a scenario's runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pausefl.figures.authors import of_authors, plot_beside
from pausefl.figures.curves import (
    LOG_SPAN,
    MOST_BANDS,
    NEAR,
    Band,
    Shown,
    bands,
    check_curves,
    ends,
    exploding,
    leakage_bands,
    leakage_label,
    mark_budget,
    on_time_axis,
    plot_curves,
    smoothed_bands,
    with_names,
)
from pausefl.figures.panels import Plotted
from pausefl.figures.style import marker, new_column
from pausefl.registry.figures import is_regression
from pausefl.registry.selectors import look_of
from pausefl.results.outcomes import seconds_to_target, target_accuracy
from pausefl.results.runs import runs_of
from pausefl.settings import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: A target says nothing up to this ratio to where the lowest curve starts.
RISEN = 1.2

#: Means that differ by less than this share of their axis, for half of their common time, hide one another.
HIDDEN = 0.06


def plot_accuracy_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """Test accuracy in per cent against simulated seconds, trailing mean over 10 rounds.

    A thin line is the target accuracy of the summary table. A pin on the axis of time marks each selector all
    of whose seeds reach it, at the mean over seeds of the seconds to target. There is neither where the
    target is hardly above the start, as where nobody learns.
    """
    shown = Shown("accuracy", "Simulated time (s)", "Test accuracy (%)", scale=100)
    curves, target = smoothed_bands(rounds, shown.column, shown.scale), 100 * target_accuracy(rounds)
    numbers, more = ends(curves, shown) if curves else pd.DataFrame(), []
    risen = bool(curves) and target > RISEN * min(curve.mean[0] for curve in curves.values())
    if not np.isnan(target):
        times = _times_to(target / 100, rounds)
        numbers[f"To {target:.1f} % (s)"] = [times[name] for name in curves]
        more = [_explained("No target: hardly above the start", linestyle="none")]
    if risen:
        more = [_explained(f"Target {target:.1f} %;\npin: mean time to it", marker=2, markersize=6)]
    figure, panels = _plot(curves, scenario, shown, more)
    for axes in panels.values():
        axes.set_ylim(bottom=0)
    if risen:
        _mark_target(panels, target, {name: times[name] for name in curves})
    return Plotted(figure, numbers=numbers)


def plot_loss_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """Test loss against simulated seconds, trailing mean over 10 rounds.

    Where some selectors explode, as they do once noise takes over, the axis is that of the others. Where the
    means of these span more than `LOG_SPAN`, it is logarithmic.
    """
    label = "Test loss\n(mean squared error)" if is_regression(scenario) else "Test loss"
    shown = Shown("loss", "Simulated time (s)", label)
    curves = smoothed_bands(rounds, shown.column, shown.scale)
    return Plotted(_plot(curves, scenario, shown)[0], numbers=ends(curves, shown))


def plot_leakage_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """Maximum leakage over users (epsilon of what the mechanism protects) against simulated seconds."""
    return _leakage(rounds, scenario, "elapsed_s", "Simulated time (s)")


def plot_leakage_vs_rounds(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:
    """Maximum leakage over users (epsilon of what the mechanism protects) against rounds."""
    return _leakage(rounds, scenario, "round", "Round")


def _leakage(rounds: pd.DataFrame, scenario: Scenario, x: str, x_label: str) -> Plotted:
    shown = Shown("leakage_max", x_label, leakage_label(scenario), x, step=True)
    curves = leakage_bands(rounds, x)
    budget = scenario.privacy.epsilon_total if scenario.privacy else np.nan
    more = [_explained(f"Budget ε = {budget:,.10g}")] if np.isfinite(budget) else []
    figure, panels = _plot(curves, scenario, shown, more)
    for axes in panels.values():
        mark_budget(axes, scenario, words=False)
    return Plotted(figure, numbers=ends(curves, shown))


def _plot(
    curves: Mapping[str, Band], scenario: Scenario, shown: Shown, more: Sequence[Line2D] = ()
) -> tuple[Figure, dict[str, Axes]]:
    """Curves in one panel with names, or beside the authors' runs; the axes by selector, or those of all.

    ``more`` are explained after the curves.
    """
    check_curves(curves, scenario, shown.y_label)
    limit, cut = on_time_axis(curves, shown.x_column)
    inside = {name: curve for name, (curve, _) in cut.items()}
    if theirs := of_authors(scenario, shown, curves):
        return plot_beside(inside, theirs, limit, scenario, shown, more)
    far = exploding(inside, shown)
    highest = {name: f"{_highest(curves[name]):.0e}".replace("e+", "e").replace("e0", "e") for name in far}
    tops = {name: f" (to\u00a0{loss})" for name, loss in highest.items()}
    near = {name: curve for name, curve in inside.items() if name not in far}
    means = np.concatenate([curve.mean[np.isfinite(curve.mean)] for curve in near.values()])
    logarithmic = shown.column == "loss" and means.min() > 0 and means.max() > LOG_SPAN * means.min()
    hidden = not far and shown.column != "leakage_max" and _hidden(near, logarithmic)
    figure, (axes, *below) = new_column(2 if hidden else 1)
    labels = {name: words + tops.get(name, "") for name, (_, words) in cut.items()}
    margin = 0.05 * float(np.ptp(means))
    top = means.max() + margin if far else np.inf
    lines = plot_curves(
        axes, inside, labels, shown.step, limit, (-np.inf, top), wide=len(curves) <= MOST_BANDS
    )
    axes.set_ylabel(shown.y_label, linespacing=0.9)
    if logarithmic:
        axes.set_yscale("log")
    elif far:
        axes.set_ylim(means.min() - margin, top)
    for lower in below:
        _plot_differences(lower, near, scenario, logarithmic)
    [axes, *below][-1].set_xlabel(shown.x_label)
    axes.set_xlim(0, limit)
    return with_names(figure, [*lines, *more], curves), {"": axes}


def _highest(curve: Band) -> float:
    return float(curve.mean[np.isfinite(curve.mean)].max())


def _hidden(curves: Mapping[str, Band], logarithmic: bool) -> bool:
    """Whether the curves coincide in half of the time that all of them last."""
    if len(curves) < 2 or not _paired(curves):
        return False
    times = np.linspace(
        max(curve.x[0] for curve in curves.values()), min(curve.x[-1] for curve in curves.values()), 101
    )
    means = np.stack([np.interp(times, curve.x, curve.mean) for curve in curves.values()])
    means = np.log(means) if logarithmic else means
    return bool(np.median(np.ptp(means, axis=0)) < HIDDEN * np.ptp(means))


def _paired(curves: Mapping[str, Band]) -> bool:
    """Whether each curve has a seed that the first one has, too, as the selectors of a workflow do."""
    seeds = [curve.seeds.keys() for curve in curves.values()]
    return all(own & seeds[0] for own in seeds)


def _plot_differences(axes: Axes, curves: Mapping[str, Band], scenario: Scenario, ratio: bool) -> None:
    """Each seed's difference from the same seed of BSFL or PAUSE, or its ratio to that."""
    reference = "bsfl" if scenario.reward.name == "bsfl" and "bsfl" in curves else next(iter(curves))
    base = curves[reference].seeds
    rows = []
    for selector, curve in curves.items():
        for seed in curve.seeds.keys() & base.keys() if selector != reference else ():
            (x, y), (other, level) = curve.seeds[seed], base[seed]
            grid = np.unique(np.concatenate([x, other]))
            grid = grid[(grid >= max(x[0], other[0])) & (grid <= min(x[-1], other[-1]))]
            own, theirs = np.interp(grid, x, y), np.interp(grid, other, level)
            rows.append((selector, grid, own / theirs if ratio else own - theirs, seed))
    found = bands(rows)
    # The start, where curves are steep and far apart, must not scale the axis.
    times = np.linspace(0, max(curve.x[-1] for curve in found.values()), 101)
    edges = [np.interp(times, curve.x, edge) for curve in found.values() for edge in (curve.low, curve.high)]
    low, high = np.quantile(edges, (0.05, 0.95), axis=1)
    between = (1.2 * min(low.min(), 0), 1.2 * max(high.max(), 0))
    plot_curves(axes, found, dict.fromkeys(found, ""), between=between, wide=len(curves) <= MOST_BANDS)
    if low.min() < high.max():  # else all curves are the same
        axes.set_ylim(*between)
    name = look_of(reference).label
    axes.axhline(1 if ratio else 0, **_THIN)
    axes.set_ylabel(f"Ratio to\n{name}" if ratio else f"Minus\n{name}", linespacing=0.9)


#: How lines look that are no curves.
_THIN: dict[str, Any] = {"color": "black", "linewidth": 0.5, "zorder": 2.5}


def _times_to(target: float, rounds: pd.DataFrame) -> dict[str, float]:
    """Mean over seeds of the seconds to a target, by selector; NaN if one of them never reaches it."""
    times: dict[str, list[float]] = {}
    for selector, _, run in runs_of(rounds):
        times.setdefault(selector, []).append(seconds_to_target(run, target))
    return {selector: float(np.mean(own)) for selector, own in times.items()}


def _explained(label: str, **look: Any) -> Line2D:
    """An entry of the legend for a line that is no curve."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, markeredgewidth=0.8, **_THIN | look)


def _mark_target(panels: Mapping[str, Axes], target: float, times: Mapping[str, float]) -> None:
    """A line at the target, and a pin on the axis of time where a selector reaches it.

    A pin that would hide another is longer.
    """
    for axes in panels.values():
        axes.axhline(target, **_THIN)
    drawn: list[float] = []
    for selector, time in times.items():
        axes = panels.get(selector) or panels[""]
        if np.isfinite(time):
            near = sum(abs(time - other) < 2 * NEAR * np.ptp(axes.get_xlim()) for other in drawn)
            color, top = look_of(selector).color, 0.05 * (1 + near * ("" in panels))
            pin: dict[str, Any] = {
                "color": color,
                "transform": axes.get_xaxis_transform(),
                "clip_on": False,
                "zorder": 6,
            }
            axes.plot([time, time], [0, top], linewidth=0.8, **pin)
            axes.plot(time, top, linestyle="none", **pin, **marker(selector))
            drawn.append(time)
