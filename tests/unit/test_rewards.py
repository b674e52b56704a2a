"""Rewards worked out by hand, and what holds for every history."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.config import RewardSettings
from pausefl.history import History
from pausefl.rewards import REWARDS, AverageReward, confidence_bound, generalization

FLOOR = 0.05


def make_history(
    data_size: list[int], n_selected: int, round: int, participations: list[int], **changes: Any
) -> History:
    history = History.empty(np.array(data_size), n_selected, FLOOR)
    history.round, history.participations = round, np.array(participations)
    for name, values in changes.items():
        setattr(history, name, np.array(values, dtype=float))
    return history


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Any history whose users' shares m |D_k| / |D| do not exceed 1."""
    n_users = draw(st.integers(1, 8))
    n_selected = draw(st.integers(1, n_users))
    size = draw(st.integers(1, 100))
    round = draw(st.integers(1, 50))

    def per_user(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n_users, max_size=n_users))

    return make_history(
        [size] * n_users,
        n_selected,
        round,
        per_user(st.integers(0, round - 1)),
        mean_speed=per_user(st.floats(0.01, 1)),
        privacy=per_user(st.floats(0, 1)),
    )


@pytest.mark.parametrize(
    ("round", "participations", "expected"),
    [
        # Shares m |D_k| / |D| are 1/4 and 3/4.
        (1, [0, 0], [1 / 16, 9 / 16]),
        (4, [1, 0], [0, 9 / 16]),  # 1/4 - 1/4 and 3/4 - 0: T / t, not T / (t - 1)
        (2, [1, 0], [-1 / 16, 9 / 16]),  # 1/4 - 1/2 keeps its sign when squared
        (8, [1, 7], [1 / 64, -1 / 64]),
    ],
)
def test_generalization_by_hand(round: int, participations: list[int], expected: list[float]) -> None:
    history = make_history([10, 30], 1, round, participations)
    np.testing.assert_allclose(generalization(history, 2), expected, atol=1e-15)


def test_beta_is_the_exponent_of_the_gap() -> None:
    history = make_history([1, 1], 1, 4, [0, 3])  # gaps 1/2 and 1/2 - 3/4 = -1/4
    np.testing.assert_allclose(generalization(history, 3), [1 / 8, -1 / 64])
    np.testing.assert_allclose(generalization(history, 1.5), [0.5**1.5, -(0.25**1.5)])


@given(histories(), st.floats(1.01, 5))
def test_generalization_lies_between_minus_one_and_one(history: History, beta: float) -> None:
    assert (np.abs(generalization(history, beta)) <= 1).all()


@given(histories())
def test_taking_part_more_often_never_raises_generalization(history: History) -> None:
    before = generalization(history, 2)
    history.participations = history.participations + 1
    assert (generalization(history, 2) < before).all()


def test_confidence_bound_by_hand() -> None:
    history = make_history([1, 1, 1], 2, 5, [1, 4, 0], mean_speed=[0.5, 0.25, 0])
    expected = [3 * 0.5 + math.sqrt(3 * math.log(5)), 3 * 0.25 + math.sqrt(3 * math.log(5) / 4), math.inf]
    np.testing.assert_allclose(confidence_bound(history, 3.0), expected)


def test_confidence_bound_is_infinite_for_everyone_at_first() -> None:
    assert np.isposinf(confidence_bound(History.empty(np.ones(4, np.int64), 2, FLOOR), 1.0)).all()


def test_exploitation_amplifies_the_mean_speed_alone() -> None:
    history = make_history([1, 1], 1, 9, [2, 3], mean_speed=[0.5, 0.125])
    gain = confidence_bound(history, 3.0) - confidence_bound(history, 1.0)
    np.testing.assert_allclose(gain, [2 * 0.5, 2 * 0.125])


@given(histories(), st.data())
def test_value_is_the_equation_for_any_number_of_users(history: History, data: st.DataObject) -> None:
    alpha, beta, gamma = 100.0, 2.0, 5.0
    n_users = len(history.data_size)
    users = np.array(sorted(data.draw(st.sets(st.integers(0, n_users - 1), min_size=1))))
    speed = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(users), max_size=len(users))))
    value = AverageReward(alpha, beta, gamma).value(history, users, speed)
    g = generalization(history, beta)
    phi_g = sum(g[k] for k in users) / len(users)
    phi_p = sum(history.privacy[k] for k in users) / len(users)
    assert value == pytest.approx(min(speed) + alpha * phi_g + gamma * phi_p, abs=1e-9)


@given(histories(), st.data())
def test_scores_of_a_full_selection_sum_to_its_value_without_speed(
    history: History, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(history.data_size))))
    users = np.array(order[: history.n_selected])
    reward = AverageReward(100.0, 2.0, 5.0)
    value = reward.value(history, users, np.zeros(len(users)))
    assert reward.scores(history)[users].sum() == pytest.approx(value, abs=1e-9)


@given(histories(), st.data())
def test_two_selections_never_differ_by_more_than_the_range(history: History, data: st.DataObject) -> None:
    reward = AverageReward(100.0, 2.0, 5.0)
    orders = [data.draw(st.permutations(range(len(history.data_size)))) for _ in range(2)]
    values = [
        reward.value(history, np.array(order[: history.n_selected]), np.zeros(history.n_selected))
        for order in orders
    ]
    assert abs(values[0] - values[1]) <= reward.range == 205


def test_r1_is_built_from_the_settings_of_a_scenario() -> None:
    assert REWARDS["r1"](RewardSettings("r1", 100.0, 2.0, 5.0)) == AverageReward(100.0, 2.0, 5.0)
