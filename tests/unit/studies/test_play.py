"""A study selects as the job of the same scenario, selector and seed does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pandas as pd
import pytest

from pausefl.config import Scenario
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError
from pausefl.simulation import Simulation
from pausefl.streams import Streams
from pausefl.studies.play import play
from pausefl.training import model_layout


@pytest.mark.parametrize("labels", ["iid", "dominant"])
@pytest.mark.parametrize("selector", ["pause", "random_by_size"])
def test_a_study_plays_the_rounds_of_the_job(
    demo: Scenario,
    digits: Dataset,
    share_out: Callable[[Scenario, int], Partition],
    labels: str,
    selector: str,
) -> None:
    partition = dataclasses.replace(
        demo.partition, labels=labels, dominant_share=0.25, sizes="dirichlet", size_concentration=2.0
    )
    scenario = dataclasses.replace(demo, partition=dataclasses.replace(partition, qualities="uniform"))
    layout = model_layout(scenario.model, digits)
    job = Simulation(scenario, selector, Streams(3), share_out(scenario, 3), layout, None)
    pd.testing.assert_frame_equal(play(scenario, selector, 3).run(30).rounds, job.run(30).rounds)


def test_data_of_unknown_size_cannot_be_played(demo: Scenario) -> None:
    data = dataclasses.replace(demo.data, source="imagefolder", folder="photographs")
    with pytest.raises(ConfigError, match="the size of data set 'imagefolder' is not known"):
        play(dataclasses.replace(demo, data=data), "random", 0)
