"""How often one annealer ends above another, by size, temperature, and what they are given and judged by."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pausefl.figures.comparison import PAPERS_SHARES
from pausefl.figures.panels import Plotted, titled_panels
from pausefl.figures.style import theme
from pausefl.registry.selectors import LABELS, look_of
from pausefl.settings.studies import Races
from pausefl.studies.races import ALL_SIZES, BUDGETS, ENERGIES, WORDS, shares, to_markdown

#: Colours of temperatures, from the hottest, and how far their dots are above the middle of a row.
_COLORS = ("#D55E00", "#0072B2", "#4B3A6B", "#0CA87C", "#8C8C8C")
_SPREAD = 0.5


def plot(tables: Mapping[str, pd.DataFrame], study: Races) -> Plotted:
    """Figure and ``shares`` of the table of `pausefl.studies.races.compute`."""
    races = tables["races"]
    figure = plot_shares(races[races["moves"] == study.moves[0]], study.title)
    return Plotted(figure, {"shares": shares(races)}, to_markdown(races, LABELS))


def plot_shares(races: pd.DataFrame, title: str) -> Figure:
    """Shares of races won: a column a reading, a row of panels for each source of instances.

    Parameters
    ----------
    races
        As `pausefl.studies.races.compute` returns them, with one choice of moves.
    title
        Of the study.
    """
    cells, pooled = shares(races), shares(races, ALL_SIZES)
    sizes = list(dict.fromkeys(zip(cells["n_users"], cells["n_selected"], strict=True)))
    sources, readings = races["source"].unique(), list(product(BUDGETS, ENERGIES))
    selector = races["selector"].iloc[0]
    names = [f"{m} of {k}" for k, m in sizes] + ["all sizes"]
    with theme():
        shape, height = (len(sources), len(readings)), 0.9 + len(sources) * (0.35 + 0.16 * len(names))
        figure, grid = titled_panels(title, shape, height, sharex=True, sharey=True)
        for (row, source), (column, (budget, energy)) in product(enumerate(sources), enumerate(readings)):
            axes = grid[row, column]
            shown = pd.concat([cells, pooled])
            for name, value in (("source", source), ("budget", budget), ("energy", energy)):
                shown = shown[shown[name] == value]
            dots = _plot_shares(axes, shown, len(names))
            axes.axhline(len(sizes) - 0.5, color="black", linewidth=0.5)
            axes.axvline(50, color="black", linewidth=0.5)
            if selector in PAPERS_SHARES:
                share = 100 * PAPERS_SHARES[selector]
                axes.axvline(share, color="black", linewidth=0.6, linestyle=(0, (4, 2)))
            if row == 0:
                axes.set_title(f"{WORDS[budget].capitalize()},\n{WORDS[energy]}", weight="normal")
            if column == 0:
                axes.set_ylabel(f"Instances {WORDS[source]}")
        grid[0, 0].set(xlim=(0, 102), xticks=[0, 25, 50, 75, 100])
        grid[0, 0].set_yticks(range(len(names)), names)
        grid[0, 0].set_ylim(len(names) - 0.5, -0.5)
        for axes in grid[-1]:
            axes.set_xlabel(f"{look_of(selector).label} higher (%)")
        labels = [f"κ = {divisor:g}" for divisor in races["temperature_divisor"].unique()]
        figure.legend(dots, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _plot_shares(axes: Axes, shown: pd.DataFrame, n_rows: int) -> list[Any]:
    """Dots with intervals, and pale bars for ties; rows of a temperature are in the order of the axis."""
    dots, divisors = [], shown["temperature_divisor"].unique()
    offsets = np.linspace(-_SPREAD / 2, _SPREAD / 2, len(divisors)) if len(divisors) > 1 else np.zeros(1)
    for color, offset, divisor in zip(cycle(_COLORS), offsets, divisors, strict=False):
        own = shown[shown["temperature_divisor"] == divisor]
        share, y = 100 * own["share"].to_numpy(), np.arange(n_rows) + offset
        reach = 100 * np.maximum([own["share"] - own["low"], own["high"] - own["share"]], 0)  # rounding
        tied = 100 * own["n_tied"] / own["n_instances"]
        axes.barh(y, tied, 0.2, share, color=color, alpha=0.25, linewidth=0)
        look: dict[str, Any] = {"color": color, "markersize": 2.2, "elinewidth": 0.7, "linestyle": ""}
        dots.append(axes.errorbar(share, y, xerr=reach, fmt="o", **look))
    return dots
