"""What the server remembers equals what it was told, worked out the slow way."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pausefl.history import Feedback, History

FLOOR = 0.05


def test_nothing_is_known_before_the_first_round() -> None:
    history = History.empty(np.array([3, 4, 5]), 2, FLOOR)
    assert (history.round, history.n_selected, history.latency_floor) == (1, 2, FLOOR)
    np.testing.assert_array_equal(history.participations, [0, 0, 0])
    np.testing.assert_array_equal(history.mean_speed, [0, 0, 0])
    np.testing.assert_array_equal(history.privacy, [1, 1, 1])


@given(st.lists(st.dictionaries(st.integers(0, 4), st.floats(FLOOR, 2), max_size=5), max_size=30))
def test_mean_speed_is_the_plain_mean_over_participations(rounds: list[dict[int, float]]) -> None:
    history = History.empty(np.full(5, 10), 2, FLOOR)
    seen: list[list[float]] = [[] for _ in range(5)]
    for latency in rounds:
        users = np.array(list(latency), dtype=np.int64)
        history.observe(Feedback(users, np.array(list(latency.values())), np.ones(5)))
        for user, seconds in latency.items():
            seen[user].append(FLOOR / seconds)
    assert history.round == len(rounds) + 1
    np.testing.assert_array_equal(history.participations, [len(speeds) for speeds in seen])
    means = [sum(speeds) / len(speeds) if speeds else 0 for speeds in seen]
    np.testing.assert_allclose(history.mean_speed, means, rtol=1e-12)


def test_the_privacy_left_is_the_last_one_reported() -> None:
    history = History.empty(np.full(3, 10), 1, FLOOR)
    for left in ([1, 0.9, 1], [1, 0.8, 0.7]):
        history.observe(Feedback(np.array([1]), np.array([0.1]), np.array(left)))
    np.testing.assert_array_equal(history.privacy, [1, 0.8, 0.7])
