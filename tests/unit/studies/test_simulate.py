"""A study selects as the job of the same scenario, selector and seed does."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError
from pausefl.federated.simulation import Simulation
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.studies.simulate import selection_only
from pausefl.training.layout import model_layout


@pytest.mark.parametrize("labels", ["iid", "dominant"])
@pytest.mark.parametrize("selector", ["pause", "random_by_size"])
def test_a_study_simulates_the_rounds_of_the_job(
    demo: Scenario,
    digits: Dataset,
    share_out: Callable[[Scenario, int], Partition],
    labels: str,
    selector: str,
) -> None:
    partition = demo.partition.replace(
        labels=labels, dominant_share=0.25, sizes="dirichlet", size_concentration=2.0
    )
    scenario = demo.replace(partition=partition.replace(qualities="uniform"))
    layout = model_layout(scenario.model, digits)
    job = Simulation(scenario, selector, Streams(3), share_out(scenario, 3), layout, None)
    pd.testing.assert_frame_equal(selection_only(scenario, selector, 3).run(30).rounds, job.run(30).rounds)


def test_a_geometric_budget_keeps_all_users_however_long(demo: Scenario) -> None:
    """Of a job they are left out where noise would leave float32; here after four participations."""
    assert demo.privacy is not None
    scenario = demo.replace(privacy=demo.privacy.replace(decay=20.0))
    simulation = selection_only(scenario, "random", 0)
    rounds = simulation.run(50).rounds
    assert (rounds["selection"].map(len) == demo.network.n_selected).all()
    assert simulation.ledger.participations.max() > 4
    assert rounds["leakage_max"].max() <= demo.privacy.epsilon_total


def test_a_budget_that_ends_by_its_schedule_ends_here_too(demo: Scenario) -> None:
    assert demo.privacy is not None
    ends = demo.privacy.replace(decay=None, schedule="uniform", n_participations=2)
    simulation = selection_only(demo.replace(privacy=ends), "random", 0)
    simulation.run(50)
    assert simulation.ledger.participations.max() == 2


def test_data_of_unknown_size_cannot_be_simulated(demo: Scenario) -> None:
    data = demo.data.replace(source="imagefolder", folder="photographs")
    with pytest.raises(ConfigError, match="the size of data set 'imagefolder' is not known"):
        selection_only(demo.replace(data=data), "random", 0)
