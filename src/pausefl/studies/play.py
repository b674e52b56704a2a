"""A scenario played without data: the federated loop with users of the right sizes and nothing to train."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from pausefl.config import RawData, Scenario
from pausefl.data.partition import make_partition
from pausefl.data.sources import training_size
from pausefl.errors import ConfigError
from pausefl.simulation import Simulation
from pausefl.streams import Streams
from pausefl.training.flat import Layout


def play(scenario: Scenario, selector: str, seed: int, genie: bool = False) -> Simulation:
    """The loop of a job without training, which selects as that job does.

    Sizes and qualities of the users' data are those of the job's partition; who holds what is left out.

    Raises
    ------
    ConfigError
        If the size of the scenario's data set is not known without reading it.
    """
    n_examples = training_size(scenario.data, RawData(Path(), download=False, folders={}))
    if n_examples is None:
        raise ConfigError(
            f"scenario '{scenario.name}': the size of data set '{scenario.data.source}' is not known before"
            " it is read, so the scenario cannot be played without data"
        )
    settings = dataclasses.replace(scenario.partition, labels="iid")
    streams = Streams(seed)
    partition = make_partition(
        np.zeros(n_examples), scenario.data, settings, scenario.network.n_users, streams
    )
    return Simulation(scenario, selector, streams, partition, Layout(0, 0, 0), None, genie)
