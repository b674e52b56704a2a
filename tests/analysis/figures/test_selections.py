"""Who was selected when."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from pausefl.analysis.figures import kinds
from pausefl.analysis.figures.selections import FAST, who_took_part
from pausefl.runs.run import split_by_run
from pausefl.settings import Scenario, load_scenario

SCENARIOS = Path(__file__).parents[3] / "config/scenarios"


def demo() -> Scenario:
    return load_scenario("demo_small", SCENARIOS)


def run(selections: list[list[int]], selector: str = "pause", seed: int = 0) -> pd.DataFrame:
    rounds = {"round": range(1, len(selections) + 1), "selection": selections}
    return pd.DataFrame({"scenario": "demo_small", "selector": selector, "seed": seed, **rounds})


def test_a_user_that_was_sampled_twice_takes_part_once() -> None:
    took_part = who_took_part(run([[1, 1], [], [0, 2]]), 3)
    assert took_part.astype(int).tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1]]


def test_a_map_has_the_fastest_user_on_top_and_the_first_seed() -> None:
    rounds = pd.concat([run([[11, 0]], seed=1), run([[0, 1], [2, 3]])])
    plotted = kinds.plot("selections", split_by_run(rounds), demo())
    (axes,) = plotted.figure.axes
    (image,) = axes.images
    drawn = np.asarray(image.get_array())
    assert drawn.shape == (12, 2)
    assert np.flatnonzero(drawn[:, 0]).tolist() == [0, 1]
    top, bottom = axes.get_ylim()[::-1]
    assert (top, bottom) == (0, 12)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert plotted.numbers is not None
    assert plotted.numbers.loc[0, ["Seed", "Rounds", FAST]].tolist() == [0, 2, 100]
