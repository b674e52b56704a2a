"""The study of a drift says when rounds got slower, and refuses worlds that do not drift."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pausefl.errors import ConfigError
from pausefl.reproduction.studies.drift import Drift, summary
from pausefl.settings import SHIPPED, load_scenario
from pausefl.settings.dotted_keys import with_values

ROOT = Path(__file__).parents[3]
WORLD = {"network.n_users": 12, "network.n_selected": 3, "network.latency": "drift", "network.swap_round": 61}


def study(**changes: Any) -> Drift:
    scenario = load_scenario("demo_small", ROOT / SHIPPED)
    changed = with_values(scenario, WORLD | {"training.n_rounds": 180} | changes, "test")
    found: Drift = Drift.read(
        {
            "title": "a drift",
            "scenario": changed.replace(selectors=("pause", "random")),
            "selectors": ["pause", "random"],
            "seeds": [0, 1],
            "forgetting": [0, 0.25],
        },
        "test",
    )
    return found


def test_pause_loses_by_a_drift_what_forgetting_wins_back_and_random_selection_nothing() -> None:
    tables = study().compute(lambda line: None)
    plotted = study().plot(tables)
    found = plotted.tables["summary.csv"].set_index(["selector", "forgetting"])
    assert found.loc[("pause", 0), "before"] < found.loc[("pause", 0), "last"]
    assert found.loc[("pause", 0.25), "last"] < found.loc[("pause", 0), "last"]
    assert found.loc[("random", 0)].equals(found.loc[("random", 0.25)])
    assert [axes.get_title() for axes in plotted.figure.axes] == ["Plain means", "Means that forget, 0.25"]


def test_spans_are_thirds_and_means_are_of_runs() -> None:
    made = {"selector": "pause", "forgetting": 0.0, "round": [1, 2, 3, 4, 5, 6]}
    runs = [
        pd.DataFrame(made | {"seed": seed, "latency_s": latency})
        for seed, latency in ((0, [1, 1, 3, 5, 2, 2]), (1, [2, 2, 6, 6, 2, 4]))
    ]
    row = summary(pd.concat(runs)).iloc[0]
    assert [row["before"], row["before_min"], row["before_max"]] == [1.5, 1, 2]
    assert [row["after"], row["last"], row["last_max"]] == [5, 2.5, 3]


@pytest.mark.parametrize(
    "changes", [{"network.latency": "two_groups", "network.swap_round": None}, {"network.swap_round": 60}]
)
def test_a_world_that_does_not_swap_after_a_third_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"latency 'drift' with network\.swap_round 61"):
        study(**changes)
