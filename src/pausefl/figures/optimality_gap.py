"""What annealing loses against the exact search, round by round: in the objective and in simulated time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pausefl.figures.curves import LOG_SPAN
from pausefl.figures.panels import Plotted, bands_of, plot_bands, two_panels
from pausefl.figures.style import theme
from pausefl.registry.selectors import look_of
from pausefl.results.outcomes import moving_average
from pausefl.settings.studies import Runs
from pausefl.studies.optimality_gap import FOUND, summary


def plot(tables: Mapping[str, pd.DataFrame], study: Runs) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.optimality_gap.compute`."""
    runs = tables["gap"]
    return Plotted(plot_gaps(runs, study.title), {"summary": summary(runs)})


def plot_gaps(runs: pd.DataFrame, title: str) -> Figure:
    """Gap after the start-up rounds, trailing mean over 10 rounds, and simulated time.

    Selectors without a gap are on the right alone. The axis of the gaps is logarithmic where means span more
    than `LOG_SPAN`, as that of losses is.

    Parameters
    ----------
    runs
        Rows of `pausefl.studies.optimality_gap.run` with ``selector`` and ``seed``.
    title
        Of the study.
    """
    later = runs[np.isfinite(runs["optimum"])]
    smooth = later.groupby(["selector", "seed"])["gap"].transform(lambda gap: moving_average(gap.to_numpy()))
    bands = bands_of(later.assign(gap=smooth), "gap")
    gaps = {selector: curve for selector, curve in bands.items() if curve.high.max() > FOUND}
    elapsed = bands_of(runs, "elapsed_s")
    labels = [look_of(name).label + ("" if name in gaps else " (no gap)") for name in elapsed]
    with theme():
        figure, left, right = two_panels(title, "Round", ("Gap to the optimum", "Simulated time (s)"))
        plot_bands(left, gaps)
        lines = plot_bands(right, elapsed)
        means = np.concatenate([curve.mean for curve in gaps.values()] or [np.ones(1)])
        if means.max() > LOG_SPAN * means.min():
            left.set_yscale("log")
        else:
            left.set_ylim(bottom=0)
        left.set_xlim(right.get_xlim())
        right.set_ylim(bottom=0)
        figure.legend(lines, labels, loc="outside lower center", ncols=4)
    return figure
