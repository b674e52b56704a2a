"""Policies that do not learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from oracles import chances_of_draws
from scipy import stats

from pausefl.bandit.history import History
from pausefl.selectors.base import Selector
from pausefl.selectors.baselines import Fastest, Random, RandomBySize

Law = dict[tuple[int, ...], float] | Counter[tuple[int, ...]]


def history(n_users: int, m: int) -> History:
    return History.empty(np.arange(1, n_users + 1), m, 0.05)


def agrees(select: Selector, given: History, law: Law, n: int = 6000, seed: int = 0) -> bool:
    """Whether selections have these probabilities."""
    rng = np.random.default_rng(seed)
    made = Counter(tuple(select(given, rng).tolist()) for _ in range(n))
    assert set(made) <= set(law)
    found, expected = [made[s] for s in law], [n * p for p in law.values()]
    return bool(stats.chisquare(found, expected).pvalue > 1e-4)


def successive(sizes: list[int], users: Iterable[int], m: int) -> Law:
    """Of sets, each draw in proportion to the sizes of those left."""
    law: Law = Counter()
    for drawn, probability in chances_of_draws({k: sizes[k] for k in users}, m).items():
        law[tuple(sorted(drawn))] += probability
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
