"""Rewards worked out by hand, and what holds for every history."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.bandit.history import History
from pausefl.bandit.rewards import (
    AverageReward,
    OverlapReward,
    QualityReward,
    Reward,
    confidence_bound,
    generalization,
    penalty_range,
    total_penalty,
)
from pausefl.settings import RewardSettings
from pausefl.streams import Streams

FLOOR = 0.05
R1 = AverageReward(100.0, 2.0, 5.0)
R2 = OverlapReward(100.0, 2.0, 5.0, 0.25, 0.5)
QUALITY = QualityReward(100.0, 2.0, 0.0)
ALL = [R1, R2, QUALITY]


def make_history(
    data_size: list[int],
    n_selected: int,
    round: int,
    participations: list[int],
    cluster: list[int] | None = None,
    **changes: Any,
) -> History:
    clusters = None if cluster is None else np.array(cluster)
    history = History.empty(np.array(data_size), n_selected, FLOOR, cluster=clusters)
    history.round, history.participations = round, np.array(participations)
    for name, values in changes.items():
        setattr(history, name, np.array(values, dtype=float))
    return history


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Any history in which no user holds more than 1 / m of the data, nor of quality times size."""
    n_users = draw(st.integers(1, 8))
    round = draw(st.integers(1, 50))

    def per_user(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n_users, max_size=n_users))

    size, quality = np.array(per_user(st.integers(1, 100))), np.array(per_user(st.floats(0.1, 1)))
    most = min((weight.sum() / weight.max()) for weight in (size, quality * size))
    return make_history(
        size.tolist(),
        draw(st.integers(1, max(int(most), 1))),
        round,
        per_user(st.integers(0, round - 1)),
        per_user(st.integers(0, 3)),
        quality=quality,
        mean_speed=per_user(st.floats(0.01, 1)),
        privacy=per_user(st.floats(0, 1)),
    )


def test_the_share_of_rounds_of_a_user_who_joined_later_is_of_those_since_then() -> None:
    history = make_history([20, 20, 20, 20], 2, 101, [50, 50, 50, 5])
    history.since = np.array([0, 0, 0, 91])
    np.testing.assert_allclose(R1.generalization(history)[:3], (0.5 - 50 / 101) ** 2)
    assert R1.generalization(history)[3] == 0  # five of ten rounds, as many as are its share


def draw_selection(data: st.DataObject, history: History, size: int | None = None) -> list[int]:
    """Distinct users in any order, as many as are selected unless a size is given."""
    order = data.draw(st.permutations(range(len(history.data_size))))
    return order[: history.n_selected if size is None else size]


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
    np.testing.assert_allclose(generalization(history, 2, history.data_size), expected, atol=1e-15)
    np.testing.assert_allclose(generalization(history, 2, np.array([0.2, 0.6])), expected, atol=1e-15)


def test_confidence_bound_by_hand() -> None:
    history = make_history([1, 1, 1], 2, 5, [1, 4, 0], mean_speed=[0.5, 0.25, 0])
    expected = [3 * 0.5 + math.sqrt(3 * math.log(5)), 3 * 0.25 + math.sqrt(3 * math.log(5) / 4), math.inf]
    np.testing.assert_allclose(confidence_bound(history, 3.0), expected)


@given(histories(), st.data())
def test_r1_and_r2_are_the_equations_for_any_number_of_users(history: History, data: st.DataObject) -> None:
    users = draw_selection(data, history, data.draw(st.integers(1, len(history.data_size))))
    speed = np.array(data.draw(st.lists(st.floats(0, 1), min_size=len(users), max_size=len(users))))
    members = [{k for k in users if history.cluster[k] == r} for r in range(4)]
    overlaps = sum(max(0, len(inside) - 1) for inside in members)
    g = generalization(history, 2.0, history.data_size)
    phi_g = sum(g[k] for k in users) / len(users)
    phi_p = sum(history.privacy[k] for k in users) / len(users)
    for reward, penalty, delay in ((R1, 0.0, 0.0), (R2, 0.25 * overlaps, 0.5 * overlaps)):
        value = reward.value(history, np.array(users), speed)
        assert value == pytest.approx(min(speed) + 100 * (phi_g - penalty) + 5 * phi_p, abs=1e-9)
        assert reward.delay(history, np.array(users)) == delay


def test_the_quality_reward_by_hand() -> None:
    # Quality times size is 6, 12, 6, so shares are 1/2, 1, 1/2; gaps -1/2, 1, 1/2.
    history = make_history([6, 24, 10], 2, 2, [2, 0, 0], quality=[1, 0.5, 0.6], privacy=[1, 0.5, 0])
    np.testing.assert_allclose(QUALITY.generalization(history), [-1 / 4, 1, 1 / 4])
    np.testing.assert_allclose(QUALITY.scores(history), [-12.5, 50, 12.5])
    assert QUALITY.value(history, np.array([0, 1]), np.array([0.5, 1.0])) == pytest.approx(0.5 + 37.5)


@pytest.mark.parametrize("reward", ALL)
@given(history=histories(), data=st.data())
def test_scores_of_a_full_selection_less_its_penalty_are_its_value_without_speed(
    reward: Reward, history: History, data: st.DataObject
) -> None:
    users = np.array(draw_selection(data, history))
    penalty = total_penalty(reward.costs(len(users)), reward.clusters(history)[users])
    value = reward.value(history, users, np.zeros(len(users)))
    assert reward.scores(history)[users].sum() - penalty == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("reward", ALL)
@given(history=histories(), data=st.data())
def test_two_selections_never_differ_by_more_than_the_range(
    reward: Reward, history: History, data: st.DataObject
) -> None:
    values = [
        reward.value(history, np.array(draw_selection(data, history)), np.zeros(history.n_selected))
        for _ in range(2)
    ]
    assert abs(values[0] - values[1]) <= reward.range(history.n_selected) + 1e-9


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.data())
def test_two_penalties_never_differ_by_more_than_their_range(costs: list[float], data: st.DataObject) -> None:
    clusters = st.lists(st.integers(0, 6), min_size=len(costs), max_size=len(costs))
    penalties = []
    for _ in range(2):
        drawn = data.draw(clusters)
        penalties.append(total_penalty(np.array(costs), np.array(drawn)))
        assert penalties[-1] == pytest.approx(sum(sum(costs[: drawn.count(r)]) for r in range(7)))
    assert abs(penalties[0] - penalties[1]) <= penalty_range(np.array(costs)) + 1e-9


@pytest.mark.parametrize("how", ["random", "index"])
@given(n_users=st.integers(1, 30), data=st.data(), seed=st.integers(0, 50))
def test_clusters_are_balanced_and_none_is_empty(
    how: str, n_users: int, data: st.DataObject, seed: int
) -> None:
    n_clusters = data.draw(st.integers(1, n_users))
    r2 = {
        "name": "r2",
        "alpha": 1.0,
        "beta": 2.0,
        "gamma": 1.0,
        "overlap_penalty": 0.0,
        "overlap_latency": 0.0,
    }
    settings = RewardSettings(**r2, n_clusters=n_clusters, clusters=how)
    cluster = settings.make_clusters(n_users, Streams(seed))
    sizes = np.bincount(cluster)
    assert len(cluster) == n_users
    assert len(sizes) == n_clusters
    assert sizes.min() >= 1
    assert np.ptp(sizes) <= 1
