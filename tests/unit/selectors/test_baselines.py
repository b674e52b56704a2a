"""Policies that do not learn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from pausefl.history import Feedback, History
from pausefl.selectors.baselines import Fastest, select_all, select_random


def history(n_users: int, m: int) -> History:
    return History.empty(np.arange(1, n_users + 1), m, 0.05)


@pytest.mark.parametrize(("n_users", "m"), [(7, 3), (7, 1), (7, 7), (1, 1)])
def test_random_selects_distinct_users_in_ascending_order(n_users: int, m: int) -> None:
    for seed in range(50):
        users = select_random(history(n_users, m), np.random.default_rng(seed))
        assert len(users) == m
        assert list(users) == sorted(set(users.tolist()))
        assert set(users) <= set(range(n_users))


def test_random_selects_every_set_of_users_equally_often_whatever_their_data() -> None:
    rng, given = np.random.default_rng(0), history(6, 3)
    made = Counter(tuple(select_random(given, rng).tolist()) for _ in range(6000))
    assert set(made) == set(combinations(range(6), 3))
    assert stats.chisquare(list(made.values())).pvalue > 1e-4


def test_random_does_not_learn() -> None:
    seen = history(6, 3)
    seen.observe(Feedback(np.array([0, 1, 2]), np.full(3, 0.9), np.zeros(6)))
    for seed in range(20):
        fresh, later = (select_random(h, np.random.default_rng(seed)) for h in (history(6, 3), seen))
        np.testing.assert_array_equal(fresh, later)


def test_fastest_are_the_users_of_smallest_mean_latency() -> None:
    rng = np.random.default_rng(0)
    for m in range(1, 10):
        latency = rng.permutation(np.linspace(0.1, 0.9, 9))
        users = Fastest(latency)(history(9, m), rng)
        assert list(users) == sorted(range(9), key=lambda k: latency[k])[:m] or set(users) == set(
            np.flatnonzero(latency <= np.sort(latency)[m - 1])
        )
        assert list(users) == sorted(users)


def test_fastest_are_always_the_same() -> None:
    select, given = Fastest(np.array([0.3, 0.1, 0.2])), history(3, 2)
    given.observe(Feedback(np.array([1, 2]), np.full(2, 9.0), np.zeros(3)))
    for seed in range(5):
        np.testing.assert_array_equal(select(given, np.random.default_rng(seed)), [1, 2])


def test_full_participation_selects_everyone() -> None:
    np.testing.assert_array_equal(select_all(history(5, 2), np.random.default_rng(0)), [0, 1, 2, 3, 4])
