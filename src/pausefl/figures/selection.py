"""Leakage of the jobs of a scenario, simulated without training."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from pausefl.figures.curves import leakage_bands, leakage_label, mark_budget, on_time_axis, plot_band
from pausefl.figures.panels import Plotted, plot_bands, titled_panels
from pausefl.figures.style import theme
from pausefl.registry.figures import protected
from pausefl.registry.selectors import LABELS
from pausefl.settings import Scenario
from pausefl.settings.studies import Selections
from pausefl.studies.selection import summary, to_markdown


def plot(tables: Mapping[str, pd.DataFrame], study: Selections) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.selection.compute`."""
    rounds = tables["rounds"]
    table = summary(rounds)
    figure = plot_leakage(rounds, study.scenario, study.title)
    return Plotted(figure, {"summary": table}, to_markdown(table, LABELS, protected(study.scenario)))


def plot_leakage(rounds: pd.DataFrame, scenario: Scenario, title: str) -> Figure:
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
        plot_bands(left, leakage_bands(rounds, "round"), step=True)
        lines = [plot_band(right, name, curve, step=True) for name, (curve, _) in over_time.items()]
        left.set_xlim(0, rounds["round"].max())
        right.set_xlim(0, limit)
        left.set_xlabel("Round")
        right.set_xlabel("Simulated time (s)")
        left.set_ylabel(leakage_label(scenario), linespacing=0.9)
        mark_budget(left, scenario)
        mark_budget(right, scenario, words=False)
        figure.legend(lines, [words for _, words in over_time.values()], loc="outside lower center", ncols=4)
    return figure
