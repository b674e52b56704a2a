"""What the server remembers equals what it was told, worked out the slow way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError

FLOOR = 0.05


@given(st.lists(st.dictionaries(st.integers(0, 4), st.floats(FLOOR, 2), max_size=5), max_size=30))
def test_means_are_plain_means_over_participations(rounds: list[dict[int, float]]) -> None:
    history = History.empty(np.full(5, 10), 2, FLOOR)
    seen: list[list[float]] = [[] for _ in range(5)]
    for latency in rounds:
        users = np.array(list(latency), dtype=np.int64)
        history.observe(Feedback(users, np.array(list(latency.values())), np.ones(5)))
        for user, seconds in latency.items():
            seen[user].append(seconds)
    assert history.round == len(rounds) + 1
    np.testing.assert_array_equal(history.participations, [len(latencies) for latencies in seen])
    speeds = [sum(FLOOR / s for s in latencies) / max(len(latencies), 1) for latencies in seen]
    seconds = [sum(latencies) / max(len(latencies), 1) for latencies in seen]
    np.testing.assert_allclose(history.mean_speed, speeds, rtol=1e-12)
    np.testing.assert_allclose(history.mean_latency, seconds, rtol=1e-12)


def test_the_privacy_left_is_the_last_one_reported() -> None:
    history = History.empty(np.full(3, 10), 1, FLOOR)
    for left in ([1, 0.9, 1], [1, 0.8, 0.7]):
        history.observe(Feedback(np.array([1]), np.array([0.1]), np.array(left)))
    np.testing.assert_array_equal(history.privacy, [1, 0.8, 0.7])


def test_fewer_candidates_than_are_selected_are_refused_in_numbers() -> None:
    history = History.empty(np.full(6, 10), 3, FLOOR)
    for _ in range(4):
        history.observe(Feedback(np.array([0]), np.array([0.1]), np.ones(6)))
    history.available[[0, 2, 3]] = False
    assert history.candidates().tolist() == [1, 4, 5]
    history.available[5] = False
    with pytest.raises(
        PauseflError, match="round 5: 3 users are to be selected, but only 2 of 6 are available"
    ):
        history.candidates()


def test_forgetting_gives_the_last_observations_a_least_weight() -> None:
    history = History.empty(np.array([1, 1]), 1, 0.1, forgetting=0.25)
    expected = 0.0
    for n, seconds in enumerate([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], start=1):
        history.observe(Feedback(np.array([1]), np.array([seconds]), np.ones(2)))
        expected += (seconds - expected) * max(1 / n, 0.25)
        assert history.mean_latency.tolist() == pytest.approx([0.0, expected])
    assert expected > np.mean([1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize("forgetting", [0.0, 0.3])
@pytest.mark.parametrize("nth", [1, 3, 6])
def test_a_correction_is_as_if_the_seconds_had_been_known(forgetting: float, nth: int) -> None:
    took = [1.0, 0.2, 0.7, 0.4, 0.3, 0.5]
    told = [2.0 if n == nth else seconds for n, seconds in enumerate(took, start=1)]
    known, corrected = (History.empty(np.array([1, 1]), 1, 0.1, forgetting=forgetting) for _ in range(2))
    for history, latency in ((known, took), (corrected, told)):
        for seconds in latency:
            history.observe(Feedback(np.array([1]), np.array([seconds]), np.ones(2)))
    corrected.correct(1, nth, 2.0, took[nth - 1])
    np.testing.assert_allclose(corrected.mean_latency, known.mean_latency, rtol=1e-12)
    np.testing.assert_allclose(corrected.mean_speed, known.mean_speed, rtol=1e-12)


def test_who_joins_later_is_known_by_the_rounds_before_and_the_least_used_of_those_there() -> None:
    history = History.empty(np.full(3, 10), 1, FLOOR)
    assert history.since.tolist() == history.ahead.tolist() == [0, 0, 0]
    for user in (0, 0, 1, 1, 1, 2):
        history.observe(Feedback(np.array([user]), np.array([0.1]), np.ones(len(history.privacy))))
    history.available = np.array([True, True, False])  # the third is not there
    history.join(np.array([5, 5]), np.ones(2), np.zeros(2, np.int64))
    assert history.since.tolist() == [0, 0, 0, 6, 6]
    assert history.ahead.tolist() == [0, 0, 0, 2, 2]
    history.observe(Feedback(np.array([3]), np.array([0.1]), np.ones(5)))
    history.available = np.array([False, False, False, True, True])
    history.join(np.array([5]), np.ones(1), np.zeros(1, np.int64))
    assert history.since.tolist() == [0, 0, 0, 6, 6, 7]
    assert history.ahead.tolist() == [0, 0, 0, 2, 2, 2]  # the fifth has not taken part
    restored, state = History.empty(np.full(6, 10), 1, FLOOR), history.state()
    restored.restore(state)
    assert restored.since.tolist() == history.since.tolist()
    restored.restore({name: array for name, array in state.items() if name not in ("since", "ahead")})
    assert restored.since.tolist() == restored.ahead.tolist() == [0] * 6
