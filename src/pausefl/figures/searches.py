"""Figures of the studies of searches: races of annealers, the graphs they walk on, and what searches cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pausefl.figures.panels import titled_panels
from pausefl.figures.style import in_legend_order, style_of, theme

Floats = NDArray[np.float64]

#: Share of runs in which ALSA ended above plain annealing (BSFL, Section V-C).
PAPERS_SHARE = 0.983

#: Turns of the golden angle spread any number of points evenly.
_GOLDEN = (5**0.5 - 1) / 2

#: Columns of times by what they are, with laws of growth to compare their slopes with.
_TIMES: dict[str, tuple[str, dict[str, Callable[[Floats], Floats]]]] = {
    "median_s": ("Time of a selection (s)", {"K ln K": lambda n: n * np.log(n), "K²": np.square}),
    "iteration_s": ("Time of an iteration (ns)", {}),
}

_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 7}


def _look(selector: str) -> dict[str, Any]:
    """How a selector's line is drawn."""
    style = style_of(selector)
    return {"color": style.color, "linestyle": style.line, "linewidth": style.width, "zorder": style.zorder}


def draw_races(curves: pd.DataFrame, title: str) -> Figure:
    """Gap to the optimum, and how often the first selector leads, against iterations.

    Parameters
    ----------
    curves
        As `pausefl.studies.comparison.run` returns them.
    title
        Of the study.
    """
    divisors, names = curves["temperature_divisor"].unique(), curves["selector"].unique()
    with theme():
        sharing: dict[str, Any] = {"sharex": True, "sharey": "row", "height_ratios": [3, 2]}
        figure, grid = titled_panels(title, (2, len(divisors)), 3.6, **sharing)
        for (gap, ahead), divisor in zip(grid.T, divisors, strict=True):
            race = curves[curves["temperature_divisor"] == divisor]
            lines = [_draw_gap(gap, race[race["selector"] == name]) for name in names]
            gap.set_title(f"κ = {divisor:g}", weight="normal")
            leader = race[race["selector"] == names[0]]
            ahead.plot(leader["iteration"], 100 * leader["ahead"], color=style_of(names[0]).color)
            ahead.axhline(50, color="black", linewidth=0.5)
            ahead.set(xscale="log", xlabel="Iteration", ylim=(0, 105), yticks=[0, 50, 100])
            ahead.minorticks_off()
            if names[0] == "alsa":
                ahead.axhline(100 * PAPERS_SHARE, color="black", linewidth=0.5, linestyle=(0, (4, 2)))
                where = {"xy": (1, 100 * PAPERS_SHARE), "xytext": (0, -2), "ha": "left", "va": "top"}
                ahead.annotate(f"BSFL: {100 * PAPERS_SHARE:.1f} %", **where, **_NOTE)
        grid[0, 0].set(ylabel="Gap to the optimum", ylim=(0, None))
        grid[1, 0].set_ylabel(f"{style_of(names[0]).label} ahead (%)")
        single = Line2D([], [], color="black", linewidth=0.5)
        labels = [*[f"{style_of(name).label}, median" for name in names], "First instance"]
        figure.legend([*lines, single], labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_gap(axes: Axes, curve: pd.DataFrame) -> Line2D:
    """Median of one selector with its band, and the first instance as a thin line."""
    look, x = _look(curve["selector"].iloc[0]), curve["iteration"]
    axes.fill_between(x, curve["low"], curve["high"], color=look["color"], alpha=0.18, linewidth=0)
    axes.plot(x, curve["example"], color=look["color"], linewidth=0.4, alpha=0.8)
    (line,) = axes.plot(x, curve["median"], **look)
    return line


def draw_graphs(vertices: pd.DataFrame, edges: pd.DataFrame, title: str) -> Figure:
    """The graphs of one instance, a vertex as high as its energy and at the same place in all of them.

    Parameters
    ----------
    vertices, edges
        As `pausefl.studies.graphs.first` returns them.
    title
        Of the study.
    """
    energy = vertices["energy"].to_numpy(np.float64)
    place = np.column_stack([_spread(energy), energy])
    selectors = edges["selector"].unique()
    with theme():
        figure, grid = titled_panels(title, ((len(selectors) + 1) // 2, 2), 5.4, sharex=True, sharey=True)
        for axes, selector in zip(grid.flat, selectors, strict=True):
            ends = edges.loc[edges["selector"] == selector, ["u", "v"]].to_numpy()
            # An edge has the colour of its lower end. The palest colours would not show, so none has them.
            color: dict[str, Any] = {"cmap": "viridis_r"}
            lines = LineCollection(
                list(place[ends]), array=energy[ends].min(axis=1), linewidths=0.35, **color
            )
            dots = axes.scatter(*place.T, c=energy, s=9, linewidths=0, zorder=2, **color)
            for drawn in (axes.add_collection(lines), dots):
                drawn.set_clim(energy.min() - 0.15 * np.ptp(energy), energy.max())
            degree = np.bincount(ends.ravel(), minlength=len(energy))
            least, most = degree.min(), degree.max()
            of = f"{least}" if least == most else f"{least} to {most}"
            axes.set_title(f"{style_of(selector).label}: {len(ends)} edges, degree {of}", weight="normal")
            axes.set_xticks([])
            axes.spines["bottom"].set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("Energy")
    return figure


def _spread(energy: Floats) -> Floats:
    """Abscissas (N,) that keep vertices of similar energy apart, inside an ellipse."""
    rank = np.argsort(np.argsort(-energy))
    height = 2 * rank / max(len(rank) - 1, 1) - 1
    return np.asarray((2 * (rank * _GOLDEN % 1) - 1) * np.sqrt(np.maximum(1 - height**2, 0.02)))


def draw_costs(times: pd.DataFrame, title: str) -> Figure:
    """Time of a selection, and of an annealer's iteration, against the number of users.

    Parameters
    ----------
    times
        As `pausefl.studies.runtime.run` returns them.
    title
        Of the study.
    """
    columns = [column for column in _TIMES if times[column].notna().any()]
    selectors = in_legend_order(times["selector"])
    shown = times.assign(iteration_s=1e9 * times["iteration_s"])  # in nanoseconds
    with theme():
        figure, grid = titled_panels(title, (1, len(columns)), 2.9, sharex=True)
        for axes, column in zip(grid.flat, columns, strict=True):
            label, guides = _TIMES[column]
            lines = [_draw_times(axes, shown[shown["selector"] == name], column) for name in selectors]
            axes.set(xscale="log", xlabel="Users K", ylabel=label)
            if guides:
                axes.set_yscale("log")
            else:  # nearly the same at any size
                axes.set_ylim(bottom=0)
            axes.minorticks_off()
            for law, slope in guides.items():
                _guide(axes, shown, column, law, slope)
        labels = [style_of(name).label for name in selectors]
        figure.legend(lines, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _draw_times(axes: Axes, times: pd.DataFrame, column: str) -> Line2D:
    """One selector's times, with a dot at each size."""
    dots: dict[str, Any] = {"marker": "o", "markersize": 2.4, "markeredgewidth": 0}
    (line,) = axes.plot(times["n_users"], times[column], **_look(times["selector"].iloc[0]), **dots)
    return line


def _guide(axes: Axes, times: pd.DataFrame, column: str, label: str, law: Callable[[Floats], Floats]) -> None:
    """The slope of a law of growth: a thin line from above the times in the middle to the top of the axes."""
    sizes = np.unique(times.loc[times[column].notna(), "n_users"])
    start = sizes[len(sizes) // 2]
    low, high = axes.get_ylim()
    height = min(3 * times.loc[times["n_users"] == start, column].max(), math.sqrt(low * high))
    x = np.geomspace(start, sizes[-1], 200)
    y = height * law(x) / law(x[:1])
    x, y = x[y <= high], y[y <= high]
    axes.plot(x, y, color="black", linewidth=0.5, zorder=2.5)
    axes.annotate(label, (x[-1], y[-1]), (-9, -1), ha="right", va="top", **_NOTE)
    axes.set_ylim(low, high)
