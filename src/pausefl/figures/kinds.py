"""Figures of the rounds of a scenario's runs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pausefl.figures.notes import scale_note
from pausefl.figures.panels import Plotted
from pausefl.figures.style import add_notes, add_title, theme
from pausefl.registry.figures import FIGURES
from pausefl.settings import Scenario


def plot(
    kind: str, rounds: pd.DataFrame, scenario: Scenario, notes: Sequence[str] = (), title: bool = False
) -> Plotted:
    """Plot a kind of figure of the rounds that `pausefl.runs.run.rounds_of` returns of a scenario.

    Below it are the scale, unless that of the papers, and ``notes``, sentences that warn of the runs
    (`pausefl.figures.notes`); above it the scenario's ``title``, if asked for. `ConfigError` if the kind is
    unknown, `PauseflError` if no run has anything to plot.
    """
    function = FIGURES.find(kind).load()
    with theme():
        plotted: Plotted = function(rounds, scenario)
        if title:
            add_title(plotted.figure, scenario.title)
    add_notes(plotted.figure, [scale_note(scenario), *notes])
    return plotted
