"""A scenario played without data: the federated loop with users of the right sizes and nothing to train.

No noise is drawn in it. A job ends for a user whose next budget is so small that its noise would leave
float32 (deviation D70); a game, which may be longer than a job, goes on.

What a played study found is drawn without the loop, so the loop, and PyTorch with it, is loaded to play only.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pausefl.data.partition import make_partition
from pausefl.data.sources import training_size
from pausefl.errors import ConfigError
from pausefl.privacy import GeometricSchedule, Ledger
from pausefl.settings import RawData, Scenario
from pausefl.streams import Streams

if TYPE_CHECKING:
    from pausefl.federated.simulation import Simulation


class NoiselessLedger(Ledger):
    """The account of a game: a geometric schedule never ends, however small its budgets become."""

    def may_take_part(self) -> NDArray[np.bool_]:
        """Whether each user (K,) has budget for another participation."""
        if isinstance(self.schedule, GeometricSchedule):
            return np.ones(self.n_users, np.bool_)
        return super().may_take_part()


def selection_only(scenario: Scenario, selector: str, seed: int, genie: bool = False) -> Simulation:
    """The loop of a job without training, which selects as that job does.

    Sizes and qualities of the users' data are those of the job's partition; who holds what is left out.

    Raises
    ------
    ConfigError
        If the size of the scenario's data set is not known without reading it.
    """
    from pausefl.federated.simulation import Simulation
    from pausefl.training.flat import Layout

    n_examples = training_size(scenario.data, RawData(Path(), download=False, folders={}))
    if n_examples is None:
        raise ConfigError(
            f"scenario '{scenario.name}': the size of data set '{scenario.data.source}' is not known before"
            " it is read, so the scenario cannot be played without data"
        )
    settings = scenario.partition.replace(labels="iid")
    streams = Streams(seed)
    partition = make_partition(
        np.zeros(n_examples), scenario.data, settings, scenario.network.n_users, streams
    )
    game = Simulation(scenario, selector, streams, partition, Layout(0, 0, 0), None, genie)
    kept = game.ledger
    game.ledger = NoiselessLedger(
        kept.n_users, kept.n_protected, kept.n_unprotected, kept.schedule, kept.mechanism
    )
    return game
