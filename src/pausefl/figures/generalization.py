"""The generalisation reward of one user against its share of the rounds, for several exponents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from pausefl.figures.panels import Plotted
from pausefl.figures.style import new_figure, theme
from pausefl.registry.selectors import DASH, DASH_DOT, DOT, LONG_DASH, SHORT_DASH, SOLID, Line
from pausefl.settings.studies import Generalization

#: Lines from the smallest exponent on; colours go from light to dark, so that both tell them apart.
_LINES: tuple[Line, ...] = (LONG_DASH, SOLID, DASH, DOT, DASH_DOT, SHORT_DASH)
_SHADES = ((0.47, 0.75, 0.93), (0.0, 0.11, 0.25))

_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}


def plot(tables: Mapping[str, pd.DataFrame], study: Generalization) -> Plotted:
    """Figure of the table of `pausefl.studies.generalization.compute`."""
    share = study.n_selected / study.n_users
    return Plotted(plot_rewards(tables["generalization"], share, study.title))


def plot_rewards(table: pd.DataFrame, share: float, title: str) -> Figure:
    """One line for each exponent; a thin line marks the share at which the reward is 0.

    Parameters
    ----------
    table
        As `pausefl.studies.generalization.run` returns it.
    share
        m / K.
    title
        Of the study.
    """
    betas = sorted(table["beta"].unique())
    with theme():
        figure, axes = new_figure(2.7)
        axes.set_title(title, loc="left")
        axes.axhline(0, color="black", linewidth=0.5, zorder=2)
        axes.axvline(share, color="black", linewidth=0.5, zorder=2)
        for i, (beta, dark) in enumerate(zip(betas, np.linspace(0, 1, len(betas)), strict=True)):
            color = to_hex(tuple((1 - dark) * np.array(_SHADES[0]) + dark * np.array(_SHADES[1])))
            curve = table[table["beta"] == beta]
            look: dict[str, Any] = {"color": color, "linestyle": _LINES[i % len(_LINES)], "linewidth": 1.5}
            axes.plot(curve["participation"], curve["reward"], label=f"β = {beta:g}", **look)
        axes.annotate(f"m / K = {share:.2g}", (share, axes.get_ylim()[0]), (3, 2), va="bottom", **_NOTE)
        axes.set(xlim=(0, 1), xlabel="Share of the rounds T / t", ylabel="Generalisation reward g")
        figure.legend(loc="outside lower center", ncols=len(betas) if len(betas) < 5 else 3)
    return figure
