"""Two annealers on the same instances: gap to the optimum, and how often the first is ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pausefl.figures.panels import NOTE, Plotted, titled_panels
from pausefl.figures.style import look, theme
from pausefl.registry.selectors import LABELS, look_of
from pausefl.settings.studies import Comparison
from pausefl.studies.comparison import shares, to_markdown

#: Share of runs in which a selector ended above plain annealing (BSFL, Section V-C).
PAPERS_SHARES = {"alsa": 0.983}


def plot(tables: Mapping[str, pd.DataFrame], study: Comparison) -> Plotted:
    """Figure and ``summary`` of the tables of `pausefl.studies.comparison.compute`."""
    summary = shares(tables["runs"])
    figure = plot_curves(tables["curves"], study.title)
    return Plotted(figure, {"summary": summary}, to_markdown(summary, LABELS))


def plot_curves(curves: pd.DataFrame, title: str) -> Figure:
    """Gap to the optimum, and how often the first selector leads, against iterations.

    Parameters
    ----------
    curves
        As `pausefl.studies.comparison.compute` returns them.
    title
        Of the study.
    """
    divisors, names = curves["temperature_divisor"].unique(), curves["selector"].unique()
    with theme():
        sharing: dict[str, Any] = {"sharex": True, "sharey": "row", "height_ratios": [3, 2]}
        figure, grid = titled_panels(title, (2, len(divisors)), 3.6, **sharing)
        for (gap, ahead), divisor in zip(grid.T, divisors, strict=True):
            compared = curves[curves["temperature_divisor"] == divisor]
            lines = [_plot_gap(gap, compared[compared["selector"] == name]) for name in names]
            gap.set_title(f"κ = {divisor:g}", weight="normal")
            leader = compared[compared["selector"] == names[0]]
            ahead.plot(leader["iteration"], 100 * leader["ahead"], color=look_of(names[0]).color)
            ahead.axhline(50, color="black", linewidth=0.5)
            ahead.set(xscale="log", xlabel="Iteration", ylim=(0, 105), yticks=[0, 50, 100])
            ahead.minorticks_off()
            for share in (100 * PAPERS_SHARES[name] for name in names[:1] if name in PAPERS_SHARES):
                ahead.axhline(share, color="black", linewidth=0.5, linestyle=(0, (4, 2)))
                where = {"xy": (1, share), "xytext": (0, -2), "ha": "left", "va": "top"}
                ahead.annotate(f"BSFL: {share:.1f} %", **where, **NOTE)
        grid[0, 0].set(ylabel="Gap to the optimum", ylim=(0, None))
        grid[1, 0].set_ylabel(f"{look_of(names[0]).label} ahead (%)")
        single = Line2D([], [], color="black", linewidth=0.5)
        labels = [*[f"{look_of(name).label}, median" for name in names], "First instance"]
        figure.legend([*lines, single], labels, loc="outside lower center", ncols=len(labels))
    return figure


def _plot_gap(axes: Axes, curve: pd.DataFrame) -> Line2D:
    """Median of one selector with its band, and the first instance as a thin line."""
    style, x = look(curve["selector"].iloc[0]), curve["iteration"]
    axes.fill_between(x, curve["low"], curve["high"], color=style["color"], alpha=0.18, linewidth=0)
    axes.plot(x, curve["example"], color=style["color"], linewidth=0.4, alpha=0.8)
    (line,) = axes.plot(x, curve["median"], **style)
    return line
