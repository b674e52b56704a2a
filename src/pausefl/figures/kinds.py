"""Figures of the rounds of a scenario's runs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from pausefl.figures.notes import scale_note
from pausefl.figures.style import add_notes, theme
from pausefl.registry.figures import FIGURES
from pausefl.settings import Scenario


def plot(kind: str, rounds: pd.DataFrame, scenario: Scenario, notes: Sequence[str] = ()) -> Figure:
    """Plot one kind of figure, with its scale below it, unless that of the papers, and the notes.

    Parameters
    ----------
    kind
        A name of `pausefl.registry.FIGURES`.
    rounds
        As `pausefl.results.runs.collect` returns them.
    scenario
        Whose runs they are: gives title, users, budget and scale.
    notes
        Sentences that warn of the runs (`pausefl.figures.notes`).

    Raises
    ------
    ConfigError
        If the kind is unknown.
    PauseflError
        If no run has anything to plot.
    """
    function = FIGURES.find(kind).load()
    with theme():
        figure: Figure = function(rounds, scenario)
    add_notes(figure, [scale_note(scenario), *notes])
    return figure
