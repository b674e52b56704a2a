"""Kinds of figures, and tables, of a scenario's runs, and what they need.

The words of their captions are in ``figures/words/KIND.md.jinja``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pausefl.registry.base import Record, Registry
from pausefl.registry.privacy import MECHANISMS
from pausefl.registry.selectors import SELECTORS
from pausefl.registry.sources import SOURCES

if TYPE_CHECKING:
    from pausefl.settings import Scenario

#: Deviations that can bear on the results of runs. `pausefl.figures.deviations` knows when each one does.
OF_RUNS = ("D1", "D2", "D3", "D4", "D8", "D9", "D10", "D77")

#: Needs of figures that are made only where a scenario names one, and by ``pausefl plot``.
ASKED = ("spending", "selections")

#: Keys of ``network`` that say how fast each user is.
SPEEDS = ("latency_floor", "fast_latency_max", "slow_latency_min", "slow_latency_max")

#: Up to this many users have a line each in them; of more, quantiles are shown.
MOST_LINES = 40

#: Scenarios with runs that the PAUSE authors archived (`pausefl.results.archive`).
ARCHIVED = ("mnist_small_authors", "mnist_large_authors", "cifar10_small_authors")

#: Scenarios as run, and the one whose figures have the authors' log that each is compared with.
LOGGED = {
    name: name.removesuffix("_dirichlet")
    for name in (
        "cifar10_small_iid_r1_as_run",
        "cifar10_small_iid_r2_as_run",
        "cifar10_small_noniid_r1_as_run",
        "cifar10_small_noniid_r1_as_run_dirichlet",
        "mnist_large_iid_r1_as_run",
        "mnist_large_iid_r1_v1_as_run",
        "cifar10_large_noniid_r1_as_run",
        "cifar10_large_noniid_r2_as_run",
        "cifar10_large_noniid_r1_v1_as_run",
        "cifar10_large_noniid_r1_cnn5_as_run",
    )
}


@dataclass(frozen=True)
class FigureRecord(Record):
    """What is made of the rounds of a scenario's runs.

    Attributes
    ----------
    code
        Of a figure: a function of the rounds (`pausefl.runs.run.rounds_of`) and the scenario that returns
        a Matplotlib figure.
    label
        What is shown, for headings.
    needs
        ``training``: trained runs; ``budget``: a private selector and a privacy budget; ``accuracy``: a data
        set with classes; ``archive``: runs of the authors, archived or logged; one of `ASKED`: a figure of
        the scenario that shows every user's spending, or the selections. Scenarios that lack one of them
        leave this kind out.
    shown_once
        Sections and dotted keys of settings, ``kind of loss`` and ``kind of protection``: what all runs in it
        must share.
    of_authors
        Column of the rounds of which it shows the authors' runs, too.
    deviations
        Deviations that can bear on it.
    """

    label: str
    needs: Collection[str] = frozenset()
    shown_once: tuple[str, ...] = ()
    of_authors: str = ""
    deviations: tuple[str, ...] = OF_RUNS

    def applies(self, scenario: Scenario, selectors: Collection[str]) -> bool:
        """Whether runs of these selectors in a scenario have what this kind needs."""
        return features(scenario, selectors).issuperset(self.needs)


def protected(scenario: Scenario) -> str:
    """What the epsilons of a scenario's runs are for: ``coordinate``, or ``update`` as a whole."""
    return "coordinate" if scenario.privacy is None else MECHANISMS.find(scenario.privacy.mechanism).protects


def is_regression(scenario: Scenario) -> bool:
    """Whether a scenario predicts numbers, so that its runs have a loss but no accuracy."""
    return SOURCES.find(scenario.data.source).regression


def features(scenario: Scenario, selectors: Collection[str]) -> frozenset[str]:
    """What a scenario and runs of these selectors in it have, of what kinds of figures can need."""
    has = {
        "training": True,
        "budget": scenario.privacy is not None and any(SELECTORS[name].private for name in selectors),
        "accuracy": not is_regression(scenario),
        "archive": scenario.name in ARCHIVED or scenario.name in LOGGED,
        "spending": "spending_vs_rounds" in scenario.figures.values(),
        "selections": "selections" in scenario.figures.values(),
    }
    return frozenset(name for name, value in has.items() if value)


#: Every kind of figure, in the order of pages.
FIGURES: Registry[FigureRecord] = Registry(
    "kind of figure",
    {
        "accuracy_vs_time": FigureRecord(
            "pausefl.figures.runs:plot_accuracy_vs_time",
            label="test accuracy against simulated time",
            needs={"training", "accuracy"},
            deviations=(*OF_RUNS, "D68"),
            of_authors="accuracy",
        ),
        "leakage_vs_time": FigureRecord(
            "pausefl.figures.runs:plot_leakage_vs_time",
            label="privacy leakage against simulated time",
            needs={"budget"},
            shown_once=("kind of protection",),
            of_authors="leakage_max",
        ),
        "leakage_vs_rounds": FigureRecord(
            "pausefl.figures.runs:plot_leakage_vs_rounds",
            label="privacy leakage against rounds",
            needs={"budget"},
            shown_once=("kind of protection",),
            of_authors="leakage_max",
        ),
        "loss_vs_time": FigureRecord(
            "pausefl.figures.runs:plot_loss_vs_time",
            label="test loss against simulated time",
            needs={"training"},
            shown_once=("kind of loss",),
            deviations=(*OF_RUNS, "D68"),
            of_authors="loss",
        ),
        "spending_vs_rounds": FigureRecord(
            "pausefl.figures.spending:plot_spending_vs_rounds",
            label="what every user has spent, against rounds",
            needs={"budget", "spending"},
            shown_once=("privacy", "network.n_users"),
        ),
        "selections": FigureRecord(
            "pausefl.figures.selections:plot_selections",
            label="who was selected when",
            needs={"selections"},
            shown_once=tuple(f"network.{key}" for key in ("n_users", *SPEEDS)),
        ),
    },
)

#: The tables of a scenario, which are no targets of their own.
TABLES: Registry[FigureRecord] = Registry(
    "table",
    {
        "summary": FigureRecord(
            "pausefl.results.tables:to_markdown",
            label="summary of all selectors",
            deviations=(*OF_RUNS, "D68"),
        ),
        "privacy": FigureRecord(
            "pausefl.results.privacy_table:to_markdown",
            label="what users have spent",
            needs={"budget"},
        ),
        "authors": FigureRecord(
            "pausefl.results.archive:to_markdown",
            label="the authors' own runs beside ours",
            needs={"archive"},
        ),
    },
)


def kinds_of(
    scenario: Scenario, selectors: Collection[str], records: Registry[FigureRecord] = FIGURES
) -> list[str]:
    """The kinds of figures, or of ``TABLES``, that apply to runs of some selectors in a scenario."""
    return [kind for kind, record in records.items() if record.applies(scenario, selectors)]
