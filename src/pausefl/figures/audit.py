"""What the privacy audit found beside what is claimed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pausefl.figures.panels import NOTE, Plotted, titled_panels
from pausefl.figures.style import MECHANISMS, OTHER_MECHANISM, theme
from pausefl.settings.studies import Audit
from pausefl.studies.audit import to_markdown

#: Markers of the observations of single coordinates, from large to small, as their bounds nearly coincide.
_SINGLE = [("o", "#0072B2", 7.0), ("s", "#56B4E9", 4.6), ("D", "#0CA87C", 2.4), ("P", "#912B6B", 4.5)]
#: Of whole updates; their shades go from light to dark with the number of coordinates.
_WHOLE, _SHADES = ["v", "^", "<", ">"], ((0.95, 0.72, 0.25), (0.45, 0.16, 0.0))

_REFUTED = "#D00000"
_DASHED: dict[str, Any] = {"linewidth": 0.7, "linestyle": (0, (4, 2))}


def plot(tables: Mapping[str, pd.DataFrame], study: Audit) -> Plotted:
    """Figure of the table of `pausefl.studies.audit.compute`."""
    table = tables["audit"]
    return Plotted(plot_bounds(table, study.title), markdown=to_markdown(table))


def plot_bounds(table: pd.DataFrame, title: str) -> Figure:
    """Lower bounds against claims, a panel a mechanism, and those of whole updates against their size.

    The lower edge of the logarithmic panels is 0. A bound above its claim has a red cross.

    Parameters
    ----------
    table
        As `pausefl.studies.audit.run` returns it.
    title
        Of the study.
    """
    looks, mechanisms = _looks(table), table["mechanism"].unique()
    with theme():
        figure, grid = titled_panels(title, (1, len(mechanisms) + 1), 3.1)
        *panels, last = grid[0]
        for axes, mechanism in zip(panels, mechanisms, strict=True):
            axes.set_title(f"Mechanism “{mechanism}”", weight="normal")
            _plot_claims(axes, table, mechanism, looks)
        panels[0].set_ylabel("ε audited (lower bound)")
        _plot_sizes(last, table)
        shown = [Line2D([], [], **look) for look in looks.values()]
        labels = [name[0].upper() + name[1:] for name in looks]
        if table["violated"].any():
            shown.append(Line2D([], [], **_cross()))
            labels.append("VIOLATED: more than claimed")
        figure.legend(shown, labels, loc="outside lower center", ncols=3, handlelength=1.2)
    return figure


def _looks(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """How the dots of each observation are plotted."""
    firsts = table.drop_duplicates("observation").set_index("observation")["n_coordinates"]
    single, whole = firsts.index[firsts == 1], firsts[firsts > 1].sort_values().index
    dots = dict(zip(single, _SINGLE, strict=False))
    for i, (name, share) in enumerate(zip(whole, np.linspace(0, 1, len(whole)), strict=True)):
        shade = (1 - share) * np.array(_SHADES[0]) + share * np.array(_SHADES[1])
        dots[name] = _WHOLE[i % len(_WHOLE)], to_hex(tuple(shade)), 4.5
    return {
        name: {"linestyle": "", "marker": marker, "color": color, "markersize": size, "markeredgewidth": 0}
        for name, (marker, color, size) in dots.items()
    }


def _cross() -> dict[str, Any]:
    return {"linestyle": "", "marker": "x", "color": _REFUTED, "markersize": 9, "markeredgewidth": 1.5}


def _plot_claims(axes: Axes, table: pd.DataFrame, mechanism: str, looks: dict[str, dict[str, Any]]) -> None:
    """Bounds of one mechanism against its claims."""
    low, high, most = 0.6 * table["claimed"].min(), 1.5 * table["claimed"].max(), table["ceiling"].max()
    floor = low / 8
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(floor, 2 * most), xlabel="ε claimed")
    axes.plot([low, high], [low, high], color="black", linewidth=0.7)
    axes.fill_between([low, high], [low, high], 2 * high, color=_REFUTED, alpha=0.06, linewidth=0)
    axes.annotate("violated", (low, np.sqrt(low * most)), (6, 0), color=_REFUTED, **NOTE)
    axes.axhline(most, color="black", **_DASHED)
    axes.annotate("most that the trials can show", (low, most), (3, 2), **NOTE)
    ours = table[table["mechanism"] == mechanism].assign(height=np.maximum(table["audited"], floor))
    for name, look in looks.items():
        rows = ours[ours["observation"] == name]
        (dots,) = axes.plot(rows["claimed"], rows["height"], clip_on=False, zorder=3, **look)
        dots.set_in_layout(False)  # on the edge
    refuted = ours[ours["violated"]]
    axes.plot(refuted["claimed"], refuted["height"], zorder=4, **_cross())
    ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if 2 * floor < tick < 2 * most]
    axes.set_yticks([floor, *ticks], ["0", *[f"{tick:g}" for tick in ticks]])
    ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if low < tick < high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _plot_sizes(axes: Axes, table: pd.DataFrame) -> None:
    """Bounds of whole updates against their number of coordinates, at the budget nearest to 1."""
    budgets = table["epsilon"].unique()
    epsilon = budgets[np.abs(np.log(budgets)).argmin()]
    whole = (table["n_coordinates"] > 1) | (table["observation"] == table["observation"].iloc[0])
    for mechanism, rows in table[whole & (table["epsilon"] == epsilon)].groupby("mechanism", sort=False):
        color, marker, place = MECHANISMS.get(str(mechanism), OTHER_MECHANISM)
        sizes = rows.sort_values("n_coordinates")
        axes.plot(sizes["n_coordinates"], sizes["claimed"], color=color, **_DASHED)
        look: dict[str, Any] = {"color": color, "marker": marker, "markersize": 4, "markeredgewidth": 0}
        axes.plot(sizes["n_coordinates"], sizes["audited"], linewidth=1.2, **look)
        end = (sizes["n_coordinates"].iloc[-1], sizes["claimed"].iloc[-1])
        axes.annotate(f"“{mechanism}”", end, place, color=color, ha="right", **NOTE)
    axes.set(xlabel="Coordinates of the update", ylabel="ε of the update", ylim=(0, None))
    axes.set_title(f"Budget ε = {epsilon:g}; dashed: claimed", weight="normal")
    axes.set_xticks(table.loc[whole, "n_coordinates"].unique())
