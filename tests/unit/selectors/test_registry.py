"""What holds for every selector there is."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

from pausefl.config import KNOWN_SELECTORS, Scenario
from pausefl.history import Feedback, History
from pausefl.latency import LatencyLaw
from pausefl.privacy import GeometricSchedule
from pausefl.selectors import SELECTORS
from pausefl.streams import Streams

EVERYONE = {"fedavg", "fedavg_no_privacy"}
TOLD_THE_TRUTH = {"fastest", "genie"}
SCHEDULE = GeometricSchedule(40.0, 0.04)


def play(scenario: Scenario, name: str, n_rounds: int, seed: int = 0) -> tuple[History, list[list[int]]]:
    """Rounds of a selector against the latency law, without training."""
    network, streams = scenario.network, Streams(seed)
    sizes = streams.generator("sizes").integers(50, 200, network.n_users)
    history = History.empty(sizes, network.n_selected, network.latency_floor)
    select, law, chosen = SELECTORS[name].build(scenario), LatencyLaw(network, streams), []
    for t in range(1, n_rounds + 1):
        users = select(history, streams.generator("select", round=t))
        chosen.append(users.tolist())
        counts = history.participations.copy()
        counts[users] += 1
        left = 1 - SCHEDULE.spent(counts) / SCHEDULE.epsilon_total
        history.observe(Feedback(users, law.draw(t)[users], left))
    return history, chosen


def test_selectors_have_names_of_the_papers() -> None:
    assert set(SELECTORS) <= set(KNOWN_SELECTORS)


@pytest.mark.parametrize("name", sorted(set(SELECTORS) - EVERYONE - TOLD_THE_TRUTH))
def test_who_plays_first_does_not_depend_on_user_numbers(demo: Scenario, name: str) -> None:
    history = History.empty(np.full(demo.network.n_users, 50), demo.network.n_selected, 0.05)
    select = SELECTORS[name].build(demo)
    first = np.concatenate([select(history, np.random.default_rng(seed)) for seed in range(400)])
    # 100 selections a user are expected; the standard deviation is sqrt(400 * 1/4 * 3/4) = 8.7.
    assert np.abs(np.bincount(first, minlength=demo.network.n_users) - 100).max() < 45


@pytest.mark.parametrize("name", SELECTORS)
def test_fifty_rounds_of_valid_selections(demo: Scenario, name: str) -> None:
    n_users = demo.network.n_users
    size = n_users if name in EVERYONE else demo.network.n_selected
    for users in play(demo, name, 50)[1]:
        assert len(users) == size
        assert users == sorted(set(users))
        assert set(users) <= set(range(n_users))


@pytest.mark.parametrize("name", SELECTORS)
def test_selecting_is_a_pure_function_of_history_and_stream(demo: Scenario, name: str) -> None:
    history, _ = play(demo, name, 20)
    before = copy.deepcopy(history)
    select = SELECTORS[name].build(demo)
    first = select(history, np.random.default_rng(5))
    select(play(demo, "random", 3)[0], np.random.default_rng(6))  # whatever it is asked in between
    np.testing.assert_array_equal(select(history, np.random.default_rng(5)), first)
    np.testing.assert_array_equal(SELECTORS[name].build(demo)(history, np.random.default_rng(5)), first)
    for field in dataclasses.fields(History):
        np.testing.assert_array_equal(getattr(history, field.name), getattr(before, field.name))


@pytest.mark.parametrize("name", sorted(set(SELECTORS) - TOLD_THE_TRUTH))
def test_only_those_told_by_definition_see_the_latency_law(demo: Scenario, name: str) -> None:
    other = dataclasses.replace(demo.network, fast_latency_max=0.6, slow_latency_max=5.0, latency_std=0.3)
    elsewhere = dataclasses.replace(demo, network=other)
    here, there = (SELECTORS[name].build(scenario) for scenario in (demo, elsewhere))
    for n_rounds in (0, 1, 3, 4, 10, 30):
        history, _ = play(demo, "random", n_rounds)
        for seed in range(3):
            choices = [select(history, np.random.default_rng(seed)) for select in (here, there)]
            np.testing.assert_array_equal(*choices)


def test_fastest_selects_the_first_users_who_are_the_fast_ones(demo: Scenario) -> None:
    assert play(demo, "fastest", 3)[1] == [[0, 1, 2]] * 3


def test_only_federated_averaging_without_privacy_is_not_private() -> None:
    assert {name for name, info in SELECTORS.items() if not info.private} == {"fedavg_no_privacy"}
