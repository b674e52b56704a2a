"""What each constant buys: a row of panels for each setting, a column for each measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pausefl.figures.panels import Plotted, titled_panels
from pausefl.figures.style import look, theme
from pausefl.registry.selectors import in_legend_order, look_of
from pausefl.settings.studies import Knobs
from pausefl.studies.knobs import METRICS, summary

#: What rows are called, by the setting.
NAMES = {
    "reward.alpha": "α",
    "reward.beta": "β",
    "reward.gamma": "γ",
    "reward.overlap_penalty": "ρ (R2)",
    "selection.exploitation": "ζ",
    "selection.temperature_divisor": "κ",
    "selection.n_iterations": "J",
    "privacy.decay": "η",
    "privacy.epsilon_total": "ε",
    "training.n_rounds": "Rounds",
    "variants": "Terms",
}

_HEADS = {
    "elapsed_s": "Simulated\ntime (s)",
    "leakage_max": "Largest\nleakage (ε)",
    "leakage_mean": "Mean\nleakage (ε)",
    "fairness": "Fairness of\nleakage",
    "slow_share": "Share of\nslow users",
    "spread_s": "Spread of\nlatency (s)",
}


def plot(tables: Mapping[str, pd.DataFrame], study: Knobs) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.knobs.compute`."""
    table = summary(tables["knobs"])
    usual = {knob.key: f"{study.usual(knob):g}" for knob in study.knobs}
    return Plotted(plot_knobs(table, usual, study.title), {"summary": table})


def plot_knobs(table: pd.DataFrame, usual: Mapping[str, str], title: str) -> Figure:
    """Small panels: measures against the values of each setting.

    Parameters
    ----------
    table
        As `pausefl.studies.knobs.summary` returns it.
    usual
        The value that each setting has in the scenario, as text.
    title
        Of the study.
    """
    base, changed = table[table["knob"] == "usual"], table[table["knob"] != "usual"]
    knobs, selectors = changed["knob"].unique(), in_legend_order(table["selector"])
    with theme():
        height = 0.95 + 0.74 * len(knobs)
        figure, grid = titled_panels(title, (len(knobs), len(METRICS)), height, sharey="col")
        for row, knob in enumerate(knobs):
            own = changed[changed["knob"] == knob]
            if knob == "variants":
                own = pd.concat([base, own])
            values = list(own["value"].unique())
            of_selectors = [own[own["selector"] == name] for name in selectors]
            for axes, metric in zip(grid[row], METRICS, strict=True):
                marked = usual.get(knob, "usual")
                if marked in values:
                    axes.axvline(values.index(marked), color="#DDDDDD", linewidth=5, zorder=0.5)
                lines = [_plot_line(axes, one, metric) for one in of_selectors]
                axes.set_xticks(range(len(values)), [_short(value) for value in values])
                axes.tick_params(axis="x", labelsize=5.5, pad=1)
                axes.tick_params(axis="y", labelsize=6.5)
                axes.set_xlim(-0.5, len(values) - 0.5)
                axes.margins(y=0.12)
                if row == 0:
                    axes.set_title(_HEADS[metric], weight="normal", size="small", linespacing=1.0)
            grid[row, 0].set_ylabel(NAMES.get(knob, knob), rotation=0, ha="right", va="center")
        labels = [look_of(name).label for name in selectors]
        figure.legend(lines, labels, loc="outside lower center", ncols=len(labels))
    return figure


def _short(value: str) -> str:
    """A value as a short label of an axis."""
    return value.removeprefix("0").replace("_", " ") if value != "0" else value


def _plot_line(axes: Axes, own: pd.DataFrame, metric: str) -> Line2D:
    """Means and standard deviations of one selector, at evenly spaced places in the order of the values."""
    mean, deviation = (own[f"{metric}_{kind}"].to_numpy(np.float64) for kind in ("mean", "sd"))
    style: dict[str, Any] = look(own["selector"].iloc[0]) | {"linewidth": 0.9}
    bars = axes.errorbar(
        np.arange(len(mean)),
        mean,
        yerr=np.nan_to_num(deviation),
        marker="o",
        markersize=1.8,
        elinewidth=0.6,
        **style,
    )
    line: Line2D = bars.lines[0]
    return line
