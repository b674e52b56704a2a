"""The picture that opens the README: as accurate in each round, and sooner in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pausefl.analysis.figures.curves import bands, plot_band
from pausefl.analysis.figures.names import name_ends
from pausefl.analysis.figures.panels import new_panels
from pausefl.analysis.figures.style import look, theme
from pausefl.analysis.outcomes import moving_average
from pausefl.runs.run import runs_of
from pausefl.selectors import look_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pausefl.runs.run import Rounds

#: Where the runs are from, and who is shown, the last on top.
SCENARIO, SELECTORS = "world_two_groups_iid", ("random", "sweep", "pause")


def plot(rounds: Rounds, time_s: float) -> Figure:
    """Accuracy of `SELECTORS` against rounds and against simulated time, up to ``time_s``.

    Axes end where random selection's runs end: what the others do later has no counterpart.
    """
    curves = {
        column: bands(
            (name, seed, run[column], 100 * moving_average(run["accuracy"].to_numpy(np.float64)))
            for name, seed, run in runs_of(rounds)
            if name in SELECTORS
        )
        for column in ("round", "elapsed_s")
    }
    limits = {"round": curves["round"]["random"].x[-1], "elapsed_s": time_s}
    titles = {
        "round": "Round by round they learn alike …",
        "elapsed_s": "… but short rounds are sooner there",
    }
    words = {"round": "Round", "elapsed_s": "Simulated time (s)"}
    with theme():
        figure, grid = new_panels((1, 2), 2.7, sharey=True)
        for axes, (column, limit) in zip(grid.flat, limits.items(), strict=True):
            lines = []
            for name in SELECTORS:
                line = plot_band(axes, curves[column][name].until(limit), **look(name))
                line.set_label(look_of(name).label)
                lines.append(line)
            axes.set(xlim=(0, limit), ylim=(0, 95), xlabel=words[column])
            axes.set_title(titles[column], loc="left", fontsize="medium")
        grid[0, 0].set_ylabel("Test accuracy (%)")
        name_ends(grid[0, 1], lines)
    return figure
