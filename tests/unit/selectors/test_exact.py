"""The exact search: equal to enumeration where that is possible, to a naive sweep where it is not."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from pausefl.history import Feedback, History
from pausefl.rewards import AverageReward, confidence_bound
from pausefl.selectors.exact import Pause, pivot_and_fill

INF = float("inf")
Case = tuple[list[float], list[float], int]


def choose(bound: Any, score: Any, m: int, seed: int = 0) -> tuple[int, ...]:
    chosen = pivot_and_fill(np.array(bound, float), np.array(score, float), m, np.random.default_rng(seed))
    return tuple(int(user) for user in chosen)


def maximisers(bound: list[float], score: list[float], m: int) -> set[tuple[int, ...]]:
    """All best selections by enumeration; sets that are infinitely good are compared by score."""
    worth = {
        users: (min(bound[k] for k in users), sum(score[k] for k in users))
        for users in combinations(range(len(bound)), m)
    }
    infinite = {users: total for users, (lowest, total) in worth.items() if lowest == INF}
    values = infinite or {users: lowest + total for users, (lowest, total) in worth.items()}
    best = max(values.values())
    return {users for users, value in values.items() if value == best}


# Multiples of 1/8 add up without rounding, so equal values are equal to the last bit.
eighths = st.integers(-12, 12).map(lambda i: i / 8)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n_users = draw(st.integers(1, 10))
    m = draw(st.integers(1, n_users))
    bound = draw(st.lists(eighths | st.just(INF), min_size=n_users, max_size=n_users))
    score = draw(st.lists(eighths, min_size=n_users, max_size=n_users))
    return bound, score, m


@given(cases(), st.integers(0, 100))
@example(([INF, INF, 1.0, 2.0], [-1.0, -2.0, 9.0, 9.0], 2), 0)  # unseen users come first
@example(([INF, INF, 1.0, 2.0], [-1.0, -2.0, 9.0, 9.0], 3), 0)  # too few of them: no infinite bonus
@settings(max_examples=400, deadline=None)
def test_the_choice_is_an_enumerated_optimum(case: Case, seed: int) -> None:
    assert choose(*case, seed) in maximisers(*case)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_the_choice_is_an_enumerated_optimum_for_any_real_values(data: st.DataObject) -> None:
    n_users = data.draw(st.integers(1, 9))
    m = data.draw(st.integers(1, n_users))
    values = st.lists(st.floats(-100, 100), min_size=n_users, max_size=n_users)
    bound, score = data.draw(values), data.draw(values)

    def value(users: tuple[int, ...]) -> float:
        return min(bound[k] for k in users) + sum(score[k] for k in users)

    best = max(value(users) for users in combinations(range(n_users), m))
    assert value(choose(bound, score, m)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("m", [1, 2, 31, 500, 1999, 2000])
@pytest.mark.parametrize("slope", [-1.0, 0.0, 0.05])
def test_large_instances_agree_with_a_naive_sweep(m: int, slope: float) -> None:
    rng = np.random.default_rng(m)
    bound = rng.normal(size=2000) * 10
    score = slope * bound / m + rng.normal(size=2000) / np.sqrt(m)
    best = -INF
    for lowest in np.sort(bound)[::-1][m - 1 :]:
        pool = score[bound >= lowest]
        best = max(best, lowest + np.partition(pool, len(pool) - m)[len(pool) - m :].sum())
    users = np.array(choose(bound, score, m))
    assert len(set(users)) == m
    assert bound[users].min() + score[users].sum() == pytest.approx(best, abs=1e-8)


def test_a_choice_is_made_of_distinct_ascending_users() -> None:
    rng = np.random.default_rng(0)
    for m in range(1, 21):
        users = choose(rng.normal(size=20), rng.normal(size=20), m)
        assert list(users) == sorted(set(users))
        assert len(users) == m


def test_neither_argument_is_changed() -> None:
    bound, score = np.array([3.0, 1.0, 2.0]), np.array([1.0, 9.0, 2.0])
    pivot_and_fill(bound, score, 2, np.random.default_rng(0))
    np.testing.assert_array_equal(bound, [3, 1, 2])
    np.testing.assert_array_equal(score, [1, 9, 2])


@given(st.permutations(range(8)), st.integers(1, 8), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_without_ties_renumbering_users_renumbers_the_choice(order: list[int], m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bound, score = rng.normal(size=8), rng.normal(size=8)
    renumbered = {order[k] for k in choose(bound[order], score[order], m, seed)}
    assert renumbered == set(choose(bound, score, m, seed + 1))


TIES: dict[str, Case] = {
    "everything equal": ([1, 1, 1, 1], [0, 0, 0, 0], 2),
    "unseen users of equal score": ([INF, INF, INF, 5], [1, 1, 1, 9], 2),
    "fewer unseen than places": ([INF, 1, 1, 1], [0, 0, 0, 0], 2),
    "equal score and bound among better users": ([3, 2, 2, 2, 1], [9, 1, 1, 1, 0], 2),
    "equal scores above the lowest bound": ([10, 9, 8], [1, 1, 5], 2),
    "equal scores far above the lowest bound": ([12, 11, 10, 9, 1], [0, 0, 0, 0, 40], 3),
    "speed against score": ([2, 1], [1, 2], 1),
}


@pytest.mark.parametrize("name", TIES)
def test_every_tied_choice_is_made_sometimes(name: str) -> None:
    case = TIES[name]
    made = {choose(*case, seed) for seed in range(300)}
    assert made == maximisers(*case)


def test_users_alike_in_everything_are_chosen_equally_often() -> None:
    made = Counter(choose([1] * 5, [2] * 5, 2, seed) for seed in range(3000))
    assert len(made) == 10
    assert stats.chisquare(list(made.values())).pvalue > 1e-4


@pytest.mark.parametrize(("n_users", "m"), [(12, 3), (30, 5), (8, 8), (6, 1)])
@pytest.mark.parametrize("equal_sizes", [True, False])
def test_everyone_plays_once_in_the_first_rounds(n_users: int, m: int, equal_sizes: bool) -> None:
    rng = np.random.default_rng(0)
    sizes = np.full(n_users, 50) if equal_sizes else rng.integers(10, 500, n_users)
    history = History.empty(sizes, m, 0.05)
    select = Pause(AverageReward(100.0, 2.0, 5.0), 1.0)
    for t in range(1, n_users // m + 1):
        users = select(history, np.random.default_rng(t))
        history.observe(Feedback(users, rng.uniform(0.05, 1, m), np.ones(n_users)))
    np.testing.assert_array_equal(history.participations, np.ones(n_users))


def test_pause_maximises_its_objective_on_a_real_history() -> None:
    rng, m = np.random.default_rng(1), 3
    reward = AverageReward(100.0, 2.0, 5.0)
    history = History.empty(rng.integers(10, 100, 9), m, 0.05)
    select = Pause(reward, 3.0)
    for _ in range(40):
        users = select(history, rng)
        bound = confidence_bound(history, 3.0)
        if np.isfinite(bound).all():
            values = {
                s: reward.value(history, np.array(s), bound[list(s)]) for s in combinations(range(9), m)
            }
            assert values[tuple(users)] == pytest.approx(max(values.values()), abs=1e-9)
        history.observe(Feedback(users, rng.uniform(0.05, 1, m), rng.uniform(0, 1, 9)))
