"""Accuracy, loss and leakage of a scenario's runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pausefl.analysis.figures.beside import Beside, Source, plot_beside
from pausefl.analysis.figures.curves import (
    MOST_BANDS,
    NEAR,
    Band,
    Shown,
    bands,
    ends,
    leakage_bands,
    leakage_label,
    mark_budget,
    on_one_axis,
    on_time_axis,
    plot_curves,
    smoothed_bands,
    with_names,
)
from pausefl.analysis.figures.panels import Plotted
from pausefl.analysis.figures.style import COLUMN_WIDTH, legend_key, marker
from pausefl.analysis.outcomes import RISEN, WINDOW, target_accuracy
from pausefl.errors import PauseflError
from pausefl.selectors import look_of
from pausefl.settings import Scenario

#: Losses whose means span more than this ratio are on a logarithmic axis.
LOG_SPAN = 8.0

#: Means that differ by less than this share of their axis, for half of their common time, hide one another.
HIDDEN = 0.06

#: Where seeds end further apart than this share of the highest mean, their mean is like none of them.
APART = 0.4

#: How lines look that are no curves.
_THIN: dict[str, Any] = {"color": "black", "linewidth": 0.5, "zorder": 2.5}


def plot_accuracy_vs_time(
    rounds: pd.DataFrame, scenario: Scenario, window: int = WINDOW, source: Source | None = None
) -> Plotted:
    """Test accuracy in per cent against simulated seconds, trailing mean over a window of rounds.

    A thin line is the target accuracy of the summary table. A pin on the axis of time marks each selector, at
    the mean of the seconds to target over the seeds that reach it, if most do; where some do not, it says how
    many do. Both are of means over `WINDOW` rounds, as in that table. There is neither where the target
    is hardly above the start, as where nobody learns.
    """
    shown = Shown("accuracy", "Test accuracy (%)", scale=100, window=window)
    curves = _curves(rounds, scenario, shown)
    numbers, target = ends(curves, shown), 100 * target_accuracy(rounds)
    tabulated = curves if window == WINDOW else _curves(rounds, scenario, replace(shown, window=WINDOW))
    times = {  # the first of each seed that reaches it
        name: np.concatenate([x[y >= target][:1] for x, y in curve.seeds.values()])
        for name, curve in tabulated.items()
    }
    pinned = {name: own for name, own in times.items() if len(own) > curves[name].n_seeds / 2}
    if not np.isnan(target):
        means = [
            float(np.mean(own)) if len(own) == curves[name].n_seeds else np.nan for name, own in times.items()
        ]
        numbers[f"To {target:.1f} % (s)"] = means
    more = []
    if not np.isnan(target):
        more = [_explained(f"Target {target:.1f} %;\npin: mean time to it", marker=2, markersize=6)]
        incomplete = [curves[name].n_seeds for name, own in pinned.items() if len(own) < curves[name].n_seeds]
        if incomplete:
            more.append(_explained(f"“n of {max(incomplete)}”: seeds that reach it", linestyle="none"))
    elif curves:
        more = [_explained("No target: hardly above the start", linestyle="none")]
    figure, panels = _plot(curves, scenario, shown, source, more, _apart(curves))
    for axes in dict.fromkeys(panels.values()):
        axes.set_ylim(bottom=0)
        if not np.isnan(target):
            axes.axhline(target, **_THIN)
    _pin(panels, pinned, curves)
    return Plotted(figure, numbers=numbers)


def plot_loss_vs_time(
    rounds: pd.DataFrame, scenario: Scenario, window: int = WINDOW, source: Source | None = None
) -> Plotted:
    """Test loss against simulated seconds, trailing mean over a window of rounds.

    Where some selectors explode, as they do once noise takes over, the axis is that of the others. Where the
    means of these span more than `LOG_SPAN`, it is logarithmic.
    """
    label = "Test loss\n(mean squared error)" if scenario.is_regression else "Test loss"
    shown = Shown("loss", label, window=window)
    curves = _curves(rounds, scenario, shown)
    apart = set() if scenario.is_regression else _apart(smoothed_bands(rounds, "accuracy"))
    return Plotted(_plot(curves, scenario, shown, source, apart=apart)[0], numbers=ends(curves, shown))


def plot_leakage_vs_time(
    rounds: pd.DataFrame,
    scenario: Scenario,
    x_column: str = "elapsed_s",
    x_label: str = Shown.x_label,
    source: Source | None = None,
) -> Plotted:
    """Largest budget spent over users (epsilon of what the mechanism protects) against simulated seconds."""
    shown = Shown("leakage_max", leakage_label(scenario), x_column, x_label)
    curves = _curves(rounds, scenario, shown)
    budget = scenario.privacy.epsilon_total if scenario.privacy else np.nan
    more = [_explained(f"Budget ε = {budget:,.10g}")] if np.isfinite(budget) else []
    figure, panels = _plot(curves, scenario, shown, source, more)
    for axes in dict.fromkeys(panels.values()):
        mark_budget(axes, scenario, words=False)
    return Plotted(figure, numbers=ends(curves, shown))


def plot_leakage_vs_rounds(rounds: pd.DataFrame, scenario: Scenario, source: Source | None = None) -> Plotted:
    """Largest budget spent over users (epsilon of what the mechanism protects) against rounds."""
    return plot_leakage_vs_time(rounds, scenario, "round", "Round", source)


def _curves(rounds: pd.DataFrame, scenario: Scenario, shown: Shown) -> dict[str, Band]:
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
    more: Sequence[Line2D] = (),
    apart: Collection[str] = (),
) -> tuple[Figure, dict[str, Axes]]:
    """Curves in one panel with names, or a panel each; the axes of each selector.

    They have a panel each where values of a ``source`` stand beside them, and where seeds of some end
    ``apart``. ``more`` are explained after the curves.
    """
    limit, inside, labels = on_time_axis(curves, shown.x_column)
    far = _exploding(inside) if shown.column == "loss" else set()
    beside = source(scenario, shown, curves) if source else Beside()
    if beside.points or apart:
        return plot_beside(inside, beside, limit, shown, far, apart, more)
    for name in far:
        mean = curves[name].mean
        top = f"{mean[np.isfinite(mean)].max():.0e}".replace("e+", "e").replace("e0", "e")
        labels[name] += f" (to\u00a0{top})"
    near = {name: curve for name, curve in inside.items() if name not in far}
    means = np.concatenate([curve.mean[np.isfinite(curve.mean)] for curve in near.values()])
    logarithmic = shown.column == "loss" and means.min() > 0 and means.max() > LOG_SPAN * means.min()
    hidden = not far and not shown.is_leakage and _hidden(near, logarithmic)
    figure = Figure(figsize=(COLUMN_WIDTH, 3.25 if hidden else 2.35), layout="constrained")
    ratios = [2.0, 1.0] if hidden else [2.0]
    panels = figure.subplots(len(ratios), 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0]
    axes = panels[0]
    margin = 0.05 * float(np.ptp(means))
    between = (-np.inf, means.max() + margin if far else np.inf)
    wide = len(curves) <= MOST_BANDS
    lines = plot_curves(axes, inside, labels, shown.is_leakage, limit, between, wide)
    if scenario.reward.name == "bsfl" and "bsfl" in inside:  # whose paper it is
        next(line for line in lines if line.get_color() == look_of("bsfl").color).set_zorder(4)
    axes.set_ylabel(shown.y_label, linespacing=0.9)
    if logarithmic:
        axes.set_yscale("log")
    elif far:
        axes.set_ylim(means.min() - margin, means.max() + margin)
    if hidden:
        _plot_differences(panels[1], near, scenario, shown, logarithmic)
    panels[-1].set_xlabel(shown.x_label)
    axes.set_xlim(0, limit)
    return with_names(figure, [*lines, *more], curves), dict.fromkeys(curves, axes)


def _apart(curves: Mapping[str, Band]) -> set[str]:
    """Selectors of whom some seeds keep the accuracy that they reached and others lose it."""
    highest = max((curve.mean.max() for curve in curves.values()), default=0.0)
    if highest < RISEN * min((curve.mean[0] for curve in curves.values()), default=0.0):
        return set()  # nobody learns
    last = {name: [y[-1] for _, y in curve.seeds.values()] for name, curve in curves.items()}
    return {name for name, values in last.items() if values and np.ptp(values) > APART * highest}


def _exploding(curves: Mapping[str, Band]) -> set[str]:
    """Selectors whose loss exceeds `LOG_SPAN` times that at the start, if others' does not."""
    most = LOG_SPAN * max(curve.mean[0] for curve in curves.values())
    far = {
        name
        for name, curve in curves.items()
        if curve.mean[np.isfinite(curve.mean)].max(initial=-np.inf) > most
    }
    return far if len(far) < len(curves) else set()


def _hidden(curves: Mapping[str, Band], logarithmic: bool) -> bool:
    """Whether curves of several common seeds coincide in half of the time that all of them last."""
    first, *others = (curve.seeds.keys() for curve in curves.values())
    if not others or not all(len(first & seeds) > 1 for seeds in others):
        return False
    begin, end = max(curve.x[0] for curve in curves.values()), min(curve.x[-1] for curve in curves.values())
    times = np.linspace(begin, end, 101)
    means = np.stack([np.interp(times, curve.x, curve.mean) for curve in curves.values()])
    means = np.log(means) if logarithmic else means
    return bool(np.median(np.ptp(means, axis=0)) < HIDDEN * np.ptp(means))


def _plot_differences(
    axes: Axes, curves: Mapping[str, Band], scenario: Scenario, shown: Shown, ratio: bool
) -> None:
    """By how much each seed is better than the same seed of BSFL or PAUSE; or its ratio to that."""
    reference = "bsfl" if scenario.reward.name == "bsfl" and "bsfl" in curves else next(iter(curves))
    base, better = curves[reference].seeds, -1 if shown.column == "loss" else 1
    rows = []
    for selector, curve in curves.items():
        for seed in curve.seeds.keys() & base.keys() if selector != reference else ():
            grid, (own, theirs) = on_one_axis([curve.seeds[seed], base[seed]])
            rows.append((selector, seed, grid, own / theirs if ratio else better * (own - theirs)))
    found = bands(rows)
    # The start, where curves are steep and far apart, must not scale the axis.
    times = np.linspace(0, max(curve.x[-1] for curve in found.values()), 101)
    edges = [np.interp(times, curve.x, edge) for curve in found.values() for edge in (curve.low, curve.high)]
    low, high = np.quantile(edges, (0.05, 0.95), axis=1)
    same = 1.0 if ratio else 0.0
    between = (1.2 * min(low.min() - same, 0) + same, 1.2 * max(high.max() - same, 0) + same)
    plot_curves(axes, found, dict.fromkeys(found, ""), between=between, wide=len(curves) <= MOST_BANDS)
    if low.min() < high.max():  # else all curves are the same
        axes.set_ylim(*between)
    name = look_of(reference).label
    axes.axhline(same, **_THIN)
    words = "Ratio to" if ratio else "Better than"
    axes.set_ylabel(f"{words}\n{name}" + ("" if ratio else " by"), linespacing=0.9)


def _explained(label: str, **look: Any) -> Line2D:
    """An entry of the legend for a line that is no curve."""
    return legend_key(label, markeredgewidth=0.8, **_THIN | look)


def _pin(
    panels: Mapping[str, Axes], times: Mapping[str, NDArray[np.float64]], curves: Mapping[str, Band]
) -> None:
    """Plot a pin on each selector's axis at the mean of its times; one that would hide another is longer."""
    drawn: list[tuple[Axes, float]] = []
    for selector, own in times.items():
        axes, time, n_seeds = panels[selector], float(np.mean(own)), curves[selector].n_seeds
        width = 2 * NEAR * np.ptp(axes.get_xlim())
        near = sum(axes is other and abs(time - then) < width for other, then in drawn)
        color, top = look_of(selector).color, 0.05 * (1 + near)
        place: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False, "zorder": 6}
        axes.plot([time, time], [0, top], color=color, linewidth=0.8, **place)
        axes.plot(time, top, color=color, linestyle="none", **place, **marker(selector))
        if len(own) < n_seeds:
            beside: dict[str, Any] = {"textcoords": "offset points", "color": color, "fontsize": 6}
            beside |= {"xycoords": axes.get_xaxis_transform(), "va": "center"}
            axes.annotate(f"{len(own)} of {n_seeds}", (time, top), (5, 0), clip_on=True, **beside)
        drawn.append((axes, time))
