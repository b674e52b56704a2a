"""Kinds of figures, and tables, of a scenario's runs: what they need, and what their captions say.

Captions are reStructuredText. Names in braces stand for what `pausefl.figures.captions.values` returns.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pausefl.registry.base import Record, Registry
from pausefl.registry.selectors import SELECTORS
from pausefl.registry.sources import SOURCES

if TYPE_CHECKING:
    from pausefl.settings import Scenario

#: Deviations that can bear on the results of runs. `pausefl.figures.captions` knows when each one does.
OF_RUNS = ("D1", "D2", "D3", "D4", "D8", "D9", "D10", "D67", "D77")

#: Figures of every user's spending. They differ little between scenarios: they are made where one is named.
SPENDING = ("spending_vs_rounds", "signal_vs_rounds")

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
        Of a figure: a function of the rounds (`pausefl.results.runs.collect`) and the scenario that returns
        a Matplotlib figure.
    label
        What is shown, for headings.
    caption
        What is shown, in few words: with the title at most `pausefl.figures.captions.MOST_WORDS`.
    details
        What else a reader may want to know of it.
    needs
        ``budget``: a private selector and a privacy budget; ``accuracy``: a data set with classes;
        ``archive``: runs of the authors, archived or logged; ``spending``: a figure of the scenario that
        shows every user's spending. Scenarios that lack one of them leave this kind out.
    of_authors
        Column of the rounds of which it shows the authors' runs, too.
    deviations
        Deviations that can bear on it.
    """

    label: str
    caption: str
    details: str = ""
    needs: Collection[str] = frozenset()
    of_authors: str = ""
    deviations: tuple[str, ...] = OF_RUNS

    def applies(self, scenario: Scenario, selectors: Collection[str]) -> bool:
        """Whether runs of these selectors in a scenario have what this kind needs."""
        return features(scenario, selectors).issuperset(self.needs)


def features(scenario: Scenario, selectors: Collection[str]) -> frozenset[str]:
    """What a scenario and runs of these selectors in it have, of what kinds of figures can need."""
    has = {
        "budget": scenario.privacy is not None and any(SELECTORS[name].private for name in selectors),
        "accuracy": not SOURCES[scenario.data.source].regression,
        "archive": scenario.name in ARCHIVED or scenario.name in LOGGED,
        "spending": not set(SPENDING).isdisjoint(scenario.figures.values()),
    }
    return frozenset(name for name, value in has.items() if value)


_LEAKAGE = (
    "What the user who has leaked most has spent so far, ε per {protected}. {lines} The thin line is the"
    " budget."
)
_SPENT = "Spent is {leakage} Selectors without privacy leak without bound and are left out."

#: Every kind of figure, in the order of pages.
FIGURES: Registry[FigureRecord] = Registry(
    "kind of figure",
    {
        "accuracy_vs_time": FigureRecord(
            "pausefl.figures.curves:plot_accuracy_vs_time",
            label="test accuracy against simulated time",
            caption="Trailing means over 10 rounds. {lines} Dots mark when the target is reached: 90 % of"
            " the best accuracy that a private selector has when the first of them ends.",
            details="A dot is at the mean time of a selector all of whose seeds reach the target; one that"
            " would hide another hangs below it. {time}",
            needs={"accuracy"},
            deviations=(*OF_RUNS, "D68"),
            of_authors="accuracy",
        ),
        "leakage_vs_time": FigureRecord(
            "pausefl.figures.curves:plot_leakage_vs_time",
            label="privacy leakage against simulated time",
            caption=_LEAKAGE,
            details=f"{_SPENT} {{time}}",
            needs={"budget"},
            of_authors="leakage_max",
        ),
        "leakage_vs_rounds": FigureRecord(
            "pausefl.figures.curves:plot_leakage_vs_rounds",
            label="privacy leakage against rounds",
            caption=_LEAKAGE,
            details=_SPENT,
            needs={"budget"},
            of_authors="leakage_max",
        ),
        "loss_vs_time": FigureRecord(
            "pausefl.figures.curves:plot_loss_vs_time",
            label="test loss against simulated time",
            caption="{loss}, trailing mean over 10 rounds. {lines}",
            details="The axis is logarithmic where the means span more than a factor of 8. {time}",
            deviations=(*OF_RUNS, "D68"),
            of_authors="loss",
        ),
        "spending_vs_rounds": FigureRecord(
            "pausefl.figures.spending:plot_spending_vs_rounds",
            label="what every user has spent, against rounds",
            caption="A panel for each private selector, seed {first}. {users} The line across is the budget.",
            details="Spent is {leakage} The leakage figures have the highest user of every seed. Spending is"
            " added up from the selections, by the schedule of the budgets; a user sampled twice in a round"
            " takes part once. Users of equal spending share a line. Selectors without privacy are left out.",
            needs={"budget", "spending"},
        ),
        "signal_vs_rounds": FigureRecord(
            "pausefl.figures.spending:plot_signal_vs_rounds",
            label="what the users' next participations are worth, against rounds",
            caption="Signal to noise of a participation in the next round, at most: median, 10 % to 90 %"
            " quantiles and lowest (dotted) over the users of {all_seeds}. Last panel: users that may still"
            " take part.",
            details="The signal of a coordinate is {signal} over the standard deviation of its Laplace noise,"
            " or ε / (2√2) for a participation of budget ε. Real updates are smaller. The axis is logarithmic"
            " and the same in every panel. Selectors that choose the same users in every round do not scale"
            " it; the titles of their panels say how far down they go. Selectors without privacy have no"
            " noise and are left out.",
            needs={"budget", "spending"},
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
            caption="Means ± sample standard deviations over {all_seeds}.",
            details="{final} A round costs the latency of its slowest participant, in simulated seconds."
            " Leakage is that of the user who has leaked most, ε per {protected} (∞ without privacy)."
            " Selection time, wall time and memory were measured on the machine that ran the job.",
            deviations=(*OF_RUNS, "D68"),
        ),
        "privacy": FigureRecord(
            "pausefl.results.privacy_table:to_markdown",
            label="what users have spent",
            caption="The user who has spent most, and the median user. Each number is the largest over"
            " {all_seeds}.",
            details="Spent is {leakage} Unprotected values left users as they were, outside any ε. *ε at δ*"
            " is a second account of the same participations, by the privacy-loss distributions of"
            " {distributions}. It is **valid for a number of participations fixed in advance** and is no"
            " filter: where selection depends on earlier releases, as in clustered sampling by similarity,"
            " only the pure sums hold.",
            needs={"budget"},
        ),
        "authors": FigureRecord(
            "pausefl.results.archive:to_markdown",
            label="the authors' own runs beside ours",
            caption="The authors' run of each selector, then ours: mean and range over {all_seeds}.",
            details="{theirs}",
            needs={"archive"},
        ),
    },
)

#: The picture of a partition.
PARTITION = FigureRecord(
    "pausefl.figures.partition:plot_partition",
    label="the training data of each user",
    caption="The number of examples and the labels of each user, seed {first}.",
    details="A partition depends on the seed alone and is the same for every selector. Every example belongs"
    " to at most one user.",
    deviations=(),
)


def kinds_of(
    scenario: Scenario, selectors: Collection[str], records: Registry[FigureRecord] = FIGURES
) -> list[str]:
    """The kinds of figures, or of ``TABLES``, that apply to runs of some selectors in a scenario."""
    return [kind for kind, record in records.items() if record.applies(scenario, selectors)]
