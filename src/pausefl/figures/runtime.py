"""Time of a search against the number of users."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pausefl.figures.panels import NOTE, Plotted, titled_panels
from pausefl.figures.style import look, theme
from pausefl.registry.selectors import LABELS, in_legend_order, look_of
from pausefl.settings.studies import Runtime
from pausefl.studies.runtime import fits, to_markdown

Floats = NDArray[np.float64]

#: Columns of times by what they are, with laws of growth to compare their slopes with.
_TIMES: dict[str, tuple[str, dict[str, Callable[[Floats], Floats]]]] = {
    "median_s": ("Time of a selection (s)", {"K ln K": lambda n: n * np.log(n), "K²": np.square}),
    "iteration_s": ("Time of an iteration (ns)", {}),
    "listing_s": ("Time of an iteration that lists (s)", {"K": np.positive, "K²": np.square}),
}


def plot(tables: Mapping[str, pd.DataFrame], study: Runtime) -> Plotted:
    """Figure and ``summary`` of the tables of `pausefl.studies.runtime.compute`."""
    times = tables["times"]
    summary = fits(times)
    text = to_markdown(times, summary, tables["memory"], LABELS)
    return Plotted(plot_times(times, study.title), {"summary": summary}, text)


def plot_times(times: pd.DataFrame, title: str) -> Figure:
    """Time of a selection, and of an annealer's iteration, against the number of users.

    Parameters
    ----------
    times
        As `pausefl.studies.runtime.run` returns them.
    title
        Of the study.
    """
    columns = [column for column in _TIMES if column in times and times[column].notna().any()]
    selectors = in_legend_order(times["selector"])
    shown = times.assign(iteration_s=1e9 * times["iteration_s"])  # in nanoseconds
    with theme():
        figure, grid = titled_panels(title, (1, len(columns)), 2.9, sharex=True)
        for axes, column in zip(grid.flat, columns, strict=True):
            label, guides = _TIMES[column]
            lines = [_plot_line(axes, shown[shown["selector"] == name], column) for name in selectors]
            axes.set(xscale="log", xlabel="Users K", ylabel=label)
            if guides:
                axes.set_yscale("log")
            else:  # nearly the same at any size
                axes.set_ylim(bottom=0)
            axes.minorticks_off()
            for law, slope in guides.items():
                _guide(axes, shown, column, law, slope)
        labels = [look_of(name).label for name in selectors]
        figure.legend(lines, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _plot_line(axes: Axes, times: pd.DataFrame, column: str) -> Line2D:
    """One selector's times, with a dot at each size."""
    dots: dict[str, Any] = {"marker": "o", "markersize": 2.4, "markeredgewidth": 0}
    (line,) = axes.plot(times["n_users"], times[column], **look(times["selector"].iloc[0]), **dots)
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
    axes.annotate(label, (x[-1], y[-1]), (-9, -1), ha="right", va="top", **NOTE)
    axes.set_ylim(low, high)
