"""Selection without training: the federated loop with users of the right sizes and no data.

No noise is sampled. In a job a user drops out once its next budget is so small that its noise would leave
float32 (deviation D70), and a job ends at its scenario's time horizon. A simulation here, which may be longer
than a job, goes on.

Plotting a study does not need the loop, so the loop is imported only to simulate.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.data.partition import Partition, make_partition
from pausefl.data.raw_data import training_size
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.privacy import Ledger
from pausefl.selectors import Selector
from pausefl.settings import RawData, Scenario
from pausefl.streams import Streams

if TYPE_CHECKING:
    from pausefl.federated.simulation import Simulation


class NoiselessLedger(Ledger):
    """A ledger whose endless schedule never ends, however small the budgets become."""

    def may_take_part(self) -> NDArray[np.bool_]:
        """Whether each user (K,) has budget for another participation."""
        if self.schedule is not None and self.schedule.endless:
            return self._affordable()
        return super().may_take_part()


def selection_only(
    scenario: Scenario, selector: str, seed: int, genie: bool = False, partition: Partition | None = None
) -> Simulation:
    """The simulation of a job without training; it selects as that job does, for any number of rounds.

    ``partition`` is the job's, by default the one of `partition_without_data`, with its error.
    """
    from pausefl.federated.simulation import Simulation
    from pausefl.training.layout import Layout

    if partition is None:
        partition = partition_without_data(scenario, seed)
    simulation = Simulation(scenario, selector, Streams(seed), partition, Layout(0, 0, 0), None, genie)
    simulation.horizon = np.inf
    kept = simulation.ledger
    simulation.ledger = NoiselessLedger(
        kept.n_users,
        kept.n_protected,
        kept.n_unprotected,
        kept.schedule,
        kept.mechanism,
        kept.loss_share,
        kept.accountant,
    )
    return simulation


def partition_without_data(scenario: Scenario, seed: int) -> Partition:
    """A partition with the sizes and qualities of the job's, made without its data.

    Labels do not matter, unless they decide on the sizes; then only how many there are of each matters.

    Raises
    ------
    ConfigError
        If the size of the scenario's data set, or labels that matter, are not known without reading it.
    """
    n_examples = training_size(scenario.data, RawData(Path(), download=False, folders={}))
    if n_examples is None or scenario.partition.users == "given":
        raise ConfigError(
            f"scenario '{scenario.name}': the size or the users of data set '{scenario.data.source}' are not"
            " known before it is read, so the scenario cannot be simulated without data"
        )
    settings, labels = scenario.partition, np.zeros(n_examples, np.int64)
    if settings.labels == "dirichlet" or (settings.labels == "dominant_pools" and settings.sizes != "listed"):
        labels = _balanced_labels(scenario, n_examples)
    else:
        settings = settings.replace(labels="iid", dominant_share=None)
    return make_partition(labels, scenario.data, settings, scenario.network.n_users, Streams(seed))


class Repeated(Selector):
    """Selects as a finished run did."""

    def __init__(self, selections: list[NDArray[np.int64]]) -> None:
        self.selections = selections

    def __call__(self, history: History, rng: np.random.Generator) -> NDArray[np.int64]:
        """The users of that round."""
        return self.selections[history.round - 1]

    def observe(self, feedback: Feedback, history: History) -> None:
        """Remember nothing."""


def _balanced_labels(scenario: Scenario, n_examples: int) -> NDArray[np.int64]:
    """Labels (N,), as many of each class as the official training split has."""
    data = scenario.data
    n_classes = SOURCES[data.source].n_balanced
    if not n_classes or data.n_validation or data.n_train is not None:
        raise ConfigError(
            f"scenario '{scenario.name}': with partition.labels '{scenario.partition.labels}' the sizes of"
            " the users' data"
            " depend on the labels, so it can be simulated without data only with the whole training"
            " split of a data set that is known to have equally many examples of each class; here data.source"
            f" = '{data.source}', data.n_validation = {data.n_validation}, data.n_train = {data.n_train}"
        )
    return np.arange(n_examples) % n_classes
