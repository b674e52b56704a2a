"""Where the advantage of PAUSE begins and ends: accuracy against rounds, budgets, constants and terms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pausefl.figures.curves import band, plot_band
from pausefl.figures.knobs import NAMES
from pausefl.figures.panels import Plotted, titled_panels
from pausefl.figures.style import look, theme
from pausefl.registry.selectors import LABELS, in_legend_order, look_of
from pausefl.settings.studies import TrainedKnobs
from pausefl.studies.trained import compare

#: The knob whose largest value is shown against rounds.
_ROUNDS = "training.n_rounds"

#: Dashes of variants.
_DASHES: tuple[Any, ...] = ((0, (4, 1.5)), (0, (1, 1)), (0, (3.5, 2.2, 1.2, 2.2)), (0, (8, 2)))


def plot(tables: Mapping[str, pd.DataFrame], study: TrainedKnobs) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.trained.compute`."""
    curves = tables["curves"]
    summary = compare(curves)
    usual = {knob.key: study.usual(knob) for knob in study.knobs}
    return Plotted(plot_accuracy(curves, summary, usual, study.title), {"summary": summary})


def plot_accuracy(
    curves: pd.DataFrame, summary: pd.DataFrame, usual: Mapping[str, float], title: str
) -> Figure:
    """Panels of accuracy: against rounds, against each setting, and against time for the variants.

    Parameters
    ----------
    curves, summary
        As `pausefl.studies.trained.compute` and `compare` return them.
    usual
        The value that each setting has in the scenario.
    title
        Of the study.
    """
    selectors = in_legend_order(curves["selector"])
    knobs = [knob for knob in usual if knob != _ROUNDS]
    variants = curves[curves["knob"].isin(["usual", "variants"])]
    with theme():
        n_rows = math.ceil((2 + len(knobs)) / 2)
        figure, grid = titled_panels(title, (n_rows, 2), 0.3 + 2.3 * n_rows, sharey=True)
        panels = iter(grid.flat)
        axes = next(panels)
        longest = curves[curves["round"] == curves["round"].max()][["knob", "value"]].iloc[0]
        own = curves[(curves["knob"] == longest["knob"]) & (curves["value"] == longest["value"])]
        lines = [_plot_curve(axes, own[own["selector"] == name], "round") for name in selectors]
        axes.set(xlabel="Round", xlim=(0, own["round"].max()), ylim=(0, 100))
        for knob in knobs:
            axes = next(panels)
            _plot_knob(axes, summary[summary["knob"].isin([knob, "usual"])], usual[knob])
            axes.set(xlabel=NAMES.get(knob, knob), xscale="log")
            axes.minorticks_off()
        axes = next(panels)
        first = curves["selector"].iloc[0]
        for name in selectors:
            usually = variants[(variants["knob"] == "usual") & (variants["selector"] == name)]
            _plot_curve(axes, usually, "elapsed_s")
        without = variants[(variants["knob"] == "variants") & (variants["selector"] == first)]
        handles = []
        for dashes, (name, own) in zip(_DASHES, without.groupby("value", sort=False), strict=False):
            line = _plot_curve(axes, own, "elapsed_s", color="#B22222", linestyle=dashes, linewidth=1.0)
            handles.append((line, f"{LABELS[first]}, {str(name).replace('_', ' ')}"))
        axes.set(xlabel="Simulated time (s)")
        axes.set_xlim(left=0)
        for rest in panels:
            rest.set_visible(False)
        for row in grid:
            row[0].set_ylabel("Accuracy (%)")
        labels = [*[look_of(name).label for name in selectors], *[label for _, label in handles]]
        shown = [*lines, *[line for line, _ in handles]]
        figure.legend(shown, labels, loc="outside lower center", ncols=min(len(labels), 4))
    return figure


def _plot_curve(axes: Axes, own: pd.DataFrame, x: str, **style: Any) -> Line2D:
    """Mean and band over seeds of a selector's accuracy; lines of another style have no band."""
    seeds = [
        (run[x].to_numpy(np.float64), 100 * run["accuracy"].to_numpy(np.float64))
        for _, run in own.groupby("seed")
    ]
    curve = band(seeds)
    if not style:
        return plot_band(axes, str(own["selector"].iloc[0]), curve)
    (line,) = axes.plot(curve.x, curve.mean, **style)
    return line


def _plot_knob(axes: Axes, own: pd.DataFrame, usual: float) -> None:
    """Accuracy of all selectors at equal time against the values of one setting."""
    own = own.assign(x=[usual if value == "usual" else float(value) for value in own["value"]])
    own = own.drop_duplicates(["x", "other"]).sort_values("x")
    axes.axvline(usual, color="#DDDDDD", linewidth=5, zorder=0.5)
    for other, compared in own.groupby("other", sort=False):
        dots: dict[str, Any] = {"marker": "o", "markersize": 2.4}
        axes.plot(compared["x"], 100 * compared["accuracy_other"], **look(str(other)), **dots)
        axes.plot(compared["x"], 100 * compared["accuracy"], **look(compared["selector"].iloc[0]), **dots)
