"""Kinds of figures, and tables, of a scenario's runs: what they need, and plotting them.

The words of their captions are in ``captions/figures.yaml``.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pausefl.errors import ConfigError, suggest
from pausefl.results.authors_archive import ARCHIVED, LOGGED
from pausefl.selectors import SELECTORS
from pausefl.settings import FigureSettings, Scenario

if TYPE_CHECKING:
    import pandas as pd

    from pausefl.figures.panels import Plotted

#: Deviations that can bear on the results of runs. `pausefl.figures.deviations` knows when each one does.
OF_RUNS = ("D1", "D2", "D3", "D4", "D8", "D9", "D10", "D77")

#: Keys of ``network`` that say how fast each user is.
SPEEDS = (
    "latency",
    "latency_file",
    "latency_floor",
    "fast_latency_max",
    "slow_latency_min",
    "slow_latency_max",
)

#: Up to this many users have a line each in them; of more, quantiles are shown.
MOST_LINES = 40


@dataclass(frozen=True)
class FigureRecord:
    """A kind of figure, or of table, of a scenario's runs."""

    #: Of a figure: a function of the rounds (`pausefl.runs.run.rounds_of`) and the scenario, as module and
    #: name, that returns a `Plotted`.
    code: str = ""
    #: Of a table: what is shown, for headings. `FIGURE_KINDS` has it of figures.
    label: str = ""
    #: ``training``: trained runs; ``budget``: a private selector and a privacy budget; ``accuracy``: a data
    #: set with classes; ``archive``: runs of the authors, archived or logged. Scenarios that lack one of them
    #: leave this kind out.
    needs: Collection[str] = frozenset()
    #: Whether it is made only where a scenario names one, and by ``pausefl plot``.
    asked: bool = False
    #: What all runs in it must share: sections and dotted keys of settings, ``kind of loss`` and ``kind of
    #: protection``.
    shown_once: tuple[str, ...] = ()
    #: Column of the rounds of which it shows the authors' runs, too.
    of_authors: str = ""
    #: Deviations that can bear on it.
    deviations: tuple[str, ...] = OF_RUNS


#: Every kind of figure, in the order of pages.
FIGURES: dict[str, FigureRecord] = {
    "accuracy_vs_time": FigureRecord(
        "pausefl.figures.runs:plot_accuracy_vs_time",
        needs={"training", "accuracy"},
        deviations=(*OF_RUNS, "D68"),
        of_authors="accuracy",
    ),
    "leakage_vs_time": FigureRecord(
        "pausefl.figures.runs:plot_leakage_vs_time",
        needs={"budget"},
        shown_once=("kind of protection",),
        of_authors="leakage_max",
    ),
    "leakage_vs_rounds": FigureRecord(
        "pausefl.figures.runs:plot_leakage_vs_rounds",
        needs={"budget"},
        shown_once=("kind of protection",),
        of_authors="leakage_max",
    ),
    "loss_vs_time": FigureRecord(
        "pausefl.figures.runs:plot_loss_vs_time",
        needs={"training"},
        shown_once=("kind of loss",),
        deviations=(*OF_RUNS, "D68"),
        of_authors="loss",
    ),
    "spending_vs_rounds": FigureRecord(
        "pausefl.figures.spending:plot_spending_vs_rounds",
        needs={"budget"},
        asked=True,
        shown_once=("privacy", "network.n_users"),
    ),
    "selections": FigureRecord(
        "pausefl.figures.selections:plot_selections",
        asked=True,
        shown_once=tuple(f"network.{key}" for key in ("n_users", *SPEEDS)),
    ),
}

#: The tables of a scenario, which are no targets of their own.
TABLES: dict[str, FigureRecord] = {
    "summary": FigureRecord(label="summary of all selectors", deviations=(*OF_RUNS, "D68")),
    "speed": FigureRecord(label="accuracy and time to targets", needs={"training", "accuracy"}),
    "budget": FigureRecord(label="budget spent and its parts", needs={"training", "accuracy", "budget"}),
    "privacy": FigureRecord(label="what users have spent", needs={"budget"}),
    "authors": FigureRecord(label="the authors' own runs beside ours", needs={"archive"}),
}


def kinds_of(
    scenario: Scenario, selectors: Collection[str], records: Mapping[str, FigureRecord] = FIGURES
) -> list[str]:
    """The kinds of figures, or of ``TABLES``, that apply to runs of some selectors in a scenario."""
    named = {shown.kind for shown in scenario.figures.values()}
    has = {
        "training": True,
        "budget": scenario.privacy is not None and any(SELECTORS[name].private for name in selectors),
        "accuracy": not scenario.is_regression,
        "archive": scenario.name in ARCHIVED or scenario.name in LOGGED,
    }
    return [
        kind
        for kind, record in records.items()
        if all(has[need] for need in record.needs) and (kind in named or not record.asked)
    ]


def find_kind(name: str) -> FigureRecord:
    """The kind of figure of a name; `ConfigError` suggests the nearest name if there is none."""
    if name not in FIGURES:
        raise ConfigError(f"unknown kind of figure '{name}'. {suggest(name, FIGURES)}")
    return FIGURES[name]


def plot(
    asked: FigureSettings | str,
    rounds: pd.DataFrame,
    scenario: Scenario,
    notes: Sequence[str] = (),
    title: bool = False,
) -> Plotted:
    """Plot a figure, or one of a kind, of the rounds that `pausefl.runs.run.rounds_of` returns of a scenario.

    Below it are the scale, unless that of the papers, and ``notes``, sentences that warn of the runs
    (`pausefl.figures.notes`); above it the scenario's ``title``, if asked for. `ConfigError` if the kind is
    unknown, `PauseflError` if no run has anything to plot.
    """
    from pausefl.figures.notes import scale_note
    from pausefl.figures.style import add_notes, add_title, set_axes, theme

    kind = asked if isinstance(asked, str) else asked.kind
    module, _, name = find_kind(kind).code.partition(":")
    function = getattr(importlib.import_module(module), name)
    smoothing = {"window": asked.window} if isinstance(asked, FigureSettings) and asked.window else {}
    with theme():
        plotted: Plotted = function(rounds, scenario, **smoothing)
        if isinstance(asked, FigureSettings):
            set_axes(plotted.figure, asked)
        if title:
            add_title(plotted.figure, scenario.title)
    add_notes(plotted.figure, [scale_note(scenario), *notes])
    return plotted
