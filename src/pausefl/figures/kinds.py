"""Every kind of figure that is drawn from the rounds of a scenario's runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.figure import Figure

from pausefl.errors import PauseflError, suggest
from pausefl.figures.curves import accuracy_vs_time, leakage_vs_rounds, leakage_vs_time, loss_vs_time
from pausefl.figures.notes import scale_note
from pausefl.figures.spending import signal_vs_rounds, spending_vs_rounds
from pausefl.figures.style import add_notes, theme
from pausefl.settings import Scenario

#: Every kind by its name.
KINDS: dict[str, Callable[[pd.DataFrame, Scenario], Figure]] = {
    "accuracy_vs_time": accuracy_vs_time,
    "leakage_vs_time": leakage_vs_time,
    "leakage_vs_rounds": leakage_vs_rounds,
    "loss_vs_time": loss_vs_time,
    "spending_vs_rounds": spending_vs_rounds,
    "signal_vs_rounds": signal_vs_rounds,
}


def draw(kind: str, rounds: pd.DataFrame, scenario: Scenario, notes: Sequence[str] = ()) -> Figure:
    """Draw one kind of figure; below it what its scale is, unless that of the papers, and the notes.

    Parameters
    ----------
    kind
        A key of `KINDS`.
    rounds
        As `pausefl.results.runs.collect` returns them.
    scenario
        Whose runs they are: gives title, users, budget and scale.
    notes
        Sentences that warn of the runs (`pausefl.figures.notes`).

    Raises
    ------
    PauseflError
        If the kind is unknown, a selector has no style, or no run has anything to draw.
    """
    if kind not in KINDS:
        raise PauseflError(f"unknown kind of figure '{kind}'. {suggest(kind, KINDS)}")
    with theme():
        figure = KINDS[kind](rounds, scenario)
    add_notes(figure, [scale_note(scenario), *notes])
    return figure
