"""Policies that do not learn."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pausefl.bandit.history import History
from pausefl.bandit.latency import mean_latencies
from pausefl.selectors.base import Selector
from pausefl.selectors.baselines import Fastest, Random, RandomBySize
from pausefl.settings import Scenario

Law = dict[tuple[int, ...], float]


def history(n_users: int, m: int) -> History:
    return History.empty(np.arange(1, n_users + 1), m, 0.05)


def agrees(select: Selector, given: History, law: Law, n: int = 6000, seed: int = 0) -> bool:
    """Whether selections have these probabilities."""
    rng = np.random.default_rng(seed)
    made = Counter(tuple(select(given, rng).tolist()) for _ in range(n))
    assert set(made) <= set(law)
    found, expected = [made[s] for s in law], [n * p for p in law.values()]
    return bool(stats.chisquare(found, expected).pvalue > 1e-4)


def successive(weight: Any, users: Any, m: int) -> Law:
    """Each draw in proportion to the weight of those left, over all orders in which a set can be drawn."""
    law: Law = {tuple(s): 0.0 for s in combinations(users, m)}
    for drawn in permutations(users, m):
        probability, left = 1.0, float(sum(weight[k] for k in users))
        for k in drawn:
            probability *= weight[k] / left
            left -= weight[k]
        law[tuple(sorted(drawn))] += probability
    assert sum(law.values()) == pytest.approx(1)
    return law


def test_random_selects_every_set_of_users_equally_often_whatever_their_data() -> None:
    assert agrees(Random(), history(6, 3), dict.fromkeys(combinations(range(6), 3), 1 / 20))


@pytest.mark.parametrize(
    "sizes", [[1, 2, 3, 4], [5, 5, 5, 5], [10, 1, 1, 1], [1, 2, 3, 4, 5], [30, 40, 3, 1, 10]]
)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_by_size_each_draw_is_in_proportion_to_the_data_of_those_left(sizes: list[int], m: int) -> None:
    given = History.empty(np.array(sizes), m, 0.05)
    assert agrees(RandomBySize(), given, successive(sizes, range(len(sizes)), m))


def test_by_size_the_absent_do_not_count() -> None:
    sizes = [50, 1, 2, 3, 90, 4]
    given = History.empty(np.array(sizes), 2, 0.05)
    given.available[[0, 4]] = False
    assert agrees(RandomBySize(), given, successive(sizes, [1, 2, 3, 5], 2))


def test_fastest_are_the_users_of_smallest_mean_latency() -> None:
    rng = np.random.default_rng(0)
    for m in range(1, 10):
        latency = rng.permutation(np.linspace(0.1, 0.9, 9))
        users = Fastest(latency)(history(9, m), rng)
        assert list(users) == sorted(sorted(range(9), key=lambda k: latency[k])[:m])


def test_the_fastest_of_a_scenario_are_those_of_its_law(demo: Scenario) -> None:
    select = demo.make_selector("fastest")
    assert isinstance(select, Fastest)
    np.testing.assert_array_equal(select.mean_latency, mean_latencies(demo.network))
    np.testing.assert_array_equal(select(history(12, 3), np.random.default_rng(0)), [0, 1, 2])
