"""A study selects as the job of the same scenario, selector and seed does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.data.partition import make_partition
from pausefl.data.partition_sizes import sample_sizes
from pausefl.errors import ConfigError
from pausefl.federated.simulation import Simulation
from pausefl.federated.untrained import selection_only
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.training.layout import Layout


@pytest.mark.parametrize(
    ("sizes", "key", "value"),
    [
        ("dirichlet_floored", "size_concentration", 1.0),
        ("listed", "listed_sizes", [100 + k for k in range(12)]),
    ],
)
def test_a_study_knows_what_users_hold_where_labels_decide_on_it(
    demo: Scenario, sizes: str, key: str, value: Any
) -> None:
    """Of CIFAR-10 it is enough to know that it has equally many images of each class."""
    law = {"labels": "dominant_pools", "dominant_share": 0.25}
    partition = demo.partition.replace(**law, sizes=sizes, **{key: value})
    data = demo.data.replace(source="cifar10", n_validation=0)
    scenario = demo.replace(partition=partition, data=data)
    labels = np.random.default_rng(0).permutation(np.arange(50_000) % 10)
    share = make_partition(labels, data, partition, 12, Streams(3))
    asked = sample_sizes(partition, 12, 50_000, Streams(3))
    assert (share.sizes.tolist() == asked.tolist()) == (sizes == "listed")
    job = Simulation(scenario, "random_by_size", Streams(3), share, Layout(0, 0, 0), None)
    study = selection_only(scenario, "random_by_size", 3)
    np.testing.assert_array_equal(study.history.data_size, share.sizes)
    pd.testing.assert_frame_equal(study.run(30).rounds, job.run(30).rounds)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source": "digits"}, "data.source = 'digits'"),
        ({"source": "mnist", "n_validation": 0}, "data.source = 'mnist'"),  # not equally many of each
    ],
)
def test_sizes_that_labels_decide_on_are_not_guessed(
    demo: Scenario, changes: dict[str, Any], words: str
) -> None:
    partition = demo.partition.replace(labels="dominant_pools", dominant_share=0.25)
    scenario = demo.replace(partition=partition, data=demo.data.replace(**changes))
    with pytest.raises(ConfigError, match=f"'dominant_pools' .*{words}"):
        selection_only(scenario, "random", 0)


def test_a_geometric_budget_keeps_all_users_however_long(demo: Scenario) -> None:
    """Of a job they are left out where noise would leave float32; here after four participations."""
    scenario = demo.replace(privacy=demo.privacy.replace(decay=20.0))
    simulation = selection_only(scenario, "random", 0)
    rounds = simulation.run(50).rounds
    assert (rounds["selection"].map(len) == demo.network.n_selected).all()
    assert simulation.ledger.participations.max() > 4
    assert rounds["leakage_max"].max() <= demo.privacy.epsilon_total
