"""Leakage of the jobs of a scenario, played without training: the papers' figures of leakage."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from pausefl.figures.curves import draw_band, leakage_bands, leakage_label, mark_budget, on_time_axis
from pausefl.figures.panels import draw_bands, titled_panels
from pausefl.figures.style import theme
from pausefl.settings import Scenario


def draw(rounds: pd.DataFrame, scenario: Scenario, title: str) -> Figure:
    """Largest leakage over users, against rounds on the left and against simulated time on the right.

    The axis of time is cut as that of a scenario's figures is (`pausefl.figures.curves`).

    Parameters
    ----------
    rounds
        Of all runs, as `pausefl.studies.selection.run` returns them.
    scenario
        Gives the budget.
    title
        Of the study.
    """
    limit, over_time = on_time_axis(leakage_bands(rounds, "elapsed_s"))
    with theme():
        figure, ((left, right),) = titled_panels(title, (1, 2), 2.6, sharey=True)
        draw_bands(left, leakage_bands(rounds, "round"), step=True)
        lines = [draw_band(right, name, curve, step=True) for name, (curve, _) in over_time.items()]
        left.set_xlim(0, scenario.training.n_rounds)
        right.set_xlim(0, limit)
        left.set_xlabel("Round")
        right.set_xlabel("Simulated time (s)")
        left.set_ylabel(leakage_label(scenario), linespacing=0.9)
        mark_budget(left, scenario)
        mark_budget(right, scenario, words=False)
        figure.legend(lines, [words for _, words in over_time.values()], loc="outside lower center", ncols=4)
    return figure
