"""The gap is the optimum of the objective less the value of the selection; recording both changes nothing."""

from __future__ import annotations

import copy
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from pausefl.bandit.latency import expected_speeds
from pausefl.bandit.rewards import confidence_bound, make_reward
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.settings import Scenario
from pausefl.studies.optimality_gap import run, summary

START_UP = 4  # 12 users, 3 a round
SEARCHES = ("pause", "bsfl", "sa_pause", "sa_pause_v1", "sa_vanilla", "alsa", "sa_bsfl")


@pytest.fixture(scope="module")
def scenario(demo: Scenario) -> Scenario:
    """Annealing so short that it misses the optimum, and overlaps to be avoided."""
    reward = demo.reward.replace(name="r2", n_clusters=4, overlap_penalty=0.01, overlap_latency=0.01)
    return demo.replace(reward=reward, selection=demo.selection.replace(n_iterations=5))


@pytest.mark.parametrize("selector", SEARCHES)
def test_the_first_rounds_have_no_gap_and_only_annealing_has_one_later(
    scenario: Scenario, selector: str
) -> None:
    table = run(scenario, selector, 0, 40)
    start, later = table[:START_UP], table[START_UP:]
    assert np.isposinf(start[["value", "optimum"]]).all(axis=None)
    assert (start["gap"] == 0).all()
    np.testing.assert_array_equal(later["gap"], later["optimum"] - later["value"])
    assert (later["gap"] >= -1e-12).all()
    exact = selector in ("pause", "bsfl")
    assert (later["gap"].max() < 1e-12) == exact


@pytest.mark.parametrize("selector", ["pause", "sa_pause", "alsa", "genie"])
def test_value_and_optimum_are_those_of_the_objective(scenario: Scenario, selector: str) -> None:
    table = run(scenario, selector, 1, 15)
    simulation, reward = selection_only(scenario, selector, 1), make_reward(scenario.reward)
    if selector == "alsa":
        reward = reward.without_privacy()
    for t, value, optimum in zip(table["round"], table["value"], table["optimum"], strict=True):
        history = copy.deepcopy(simulation.history)
        selection = simulation.run(t).rounds["selection"].iloc[-1]
        bound = confidence_bound(history, scenario.selection.exploitation)
        if selector == "genie":
            bound = expected_speeds(scenario.network)
        values = {
            users: reward.value(history, np.array(users), bound[list(users)])
            for users in combinations(range(12), 3)
        }
        assert value == pytest.approx(values[tuple(selection)])  # type: ignore[arg-type]
        if np.isfinite(optimum) or t > START_UP:
            assert optimum == pytest.approx(max(values.values()))


@pytest.mark.parametrize("selector", ["pause", "sa_vanilla"])
def test_recording_changes_nothing(scenario: Scenario, selector: str) -> None:
    columns = ["round", "latency_s", "elapsed_s", "leakage_max"]
    alone = selection_only(scenario, selector, 2).run(30).rounds
    pd.testing.assert_frame_equal(run(scenario, selector, 2, 30)[columns], alone[columns])


def test_a_selector_that_maximises_nothing_is_refused(scenario: Scenario) -> None:
    with pytest.raises(PauseflError, match="'random' maximises nothing"):
        run(scenario, "random", 0, 5)


def runs_of(selector: str, seed: int, gaps: list[float], latencies: list[float]) -> pd.DataFrame:
    """A run whose first round is of the start-up; leakage is ten times the time."""
    elapsed = np.cumsum(latencies)
    return pd.DataFrame(
        {
            "selector": selector,
            "seed": seed,
            "round": np.arange(1, len(gaps) + 1),
            "optimum": [math.inf, *[1.0] * (len(gaps) - 1)],
            "gap": gaps,
            "latency_s": latencies,
            "elapsed_s": elapsed,
            "leakage_max": 10 * elapsed,
        }
    )


def test_a_summary_by_hand() -> None:
    runs = pd.concat(
        [
            runs_of("sa_pause", 1, [0, 2, 0], [3, 3, 3]),
            runs_of("sa_pause", 0, [0, 1, 1], [1, 1, 2]),
            runs_of("pause", 0, [0, 0, 1e-15], [1, 0.5, 0.5]),
            runs_of("pause", 1, [0, 0, -1e-15], [1, 1, 1]),
        ]
    )
    table = summary(runs).set_index("selector")
    assert table.index.tolist() == ["sa_pause", "pause"]
    annealed, exact = table.loc["sa_pause"], table.loc["pause"]
    assert annealed["n_seeds"] == 2
    for name, mean, sd in (
        ("gap", 1, 0),
        ("found_share", 0.25, math.sqrt(0.125)),
        ("round_s", (3 + 4 / 3) / 2, (3 - 4 / 3) / math.sqrt(2)),
        ("elapsed_s", 6.5, 5 / math.sqrt(2)),
        ("leakage_max", 65, 50 / math.sqrt(2)),
        ("elapsed_ratio", 2.5, 1 / math.sqrt(2)),  # 4 / 2 and 9 / 3, seed by seed
        ("leakage_ratio", 2.5, 1 / math.sqrt(2)),
    ):
        assert annealed[f"{name}_mean"] == pytest.approx(mean), name
        assert annealed[f"{name}_sd"] == pytest.approx(sd), name
    assert (exact["found_share_mean"], exact["elapsed_ratio_mean"], exact["elapsed_ratio_sd"]) == (1, 1, 0)


def test_a_summary_without_the_reference_or_a_second_seed() -> None:
    row = summary(runs_of("sa_pause", 0, [0, 1], [1, 1])).iloc[0]
    assert row["gap_mean"] == 1
    assert np.isnan(row[["gap_sd", "elapsed_ratio_mean", "leakage_ratio_mean"]].to_numpy(float)).all()
