"""Annealing: the neighbourhood is the paper's, the compiled kernel does what a slow obvious one does."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pausefl.config import SelectionSettings
from pausefl.history import Feedback, History
from pausefl.rewards import AverageReward, confidence_bound
from pausefl.selectors import annealing
from pausefl.selectors.annealing import SaPause, _anneal, n_neighbours
from pausefl.selectors.exact import pivot_and_fill

REWARD = AverageReward(100.0, 2.0, 5.0)


def settings(n_iterations: int = 300) -> SelectionSettings:
    return SelectionSettings(1.0, n_iterations, 30.0)


def neighbours(members: frozenset[int], n_users: int) -> set[frozenset[int]]:
    """Rules N1, N2a and N2b of Algorithm 3; users are numbered in rising order of ucb."""
    outsiders = set(range(n_users)) - members
    a, *rest = sorted(members)
    swaps = [(a, entering) for entering in outsiders]
    swaps += [(leaving, entering) for leaving in rest for entering in outsiders if entering < a]
    if rest:
        swaps += [(a, entering) for entering in outsiders if entering < rest[0]]
    return {members - {leaving} | {entering} for leaving, entering in swaps}


def slow_anneal(
    bound: Any, score: Any, start: list[int], outside: list[int], scale: float, draws: Any
) -> Any:
    """The kernel in plain Python: neighbours listed, energies summed afresh, the same draws."""
    members, outsiders = list(start), list(outside)

    def energy(users: list[int]) -> float:
        return float(min(bound[k] for k in users) + sum(score[k] for k in users))

    best, best_energy = sorted(members), energy(members)
    for j, (which, accept) in enumerate(draws, start=1):
        low = members.index(min(members))
        moves = [(low, entering) for entering in outsiders]
        moves += [(i, entering) for i in range(len(members)) if i != low for entering in range(members[low])]
        reached = [frozenset({*members, entering} - {members[i]}) for i, entering in moves]
        assert len(set(reached)) == len(reached)
        assert set(reached) == neighbours(frozenset(members), len(bound))
        i, entering = moves[int(which * len(moves))]
        proposal = [*members[:i], entering, *members[i + 1 :]]
        gain = energy(proposal) - energy(members)
        if gain >= 0 or accept <= math.exp(gain / (scale / math.log(1 + j))):
            outsiders[outsiders.index(entering)] = members[i]
            members = proposal
            if energy(members) > best_energy:
                best, best_energy = sorted(members), energy(members)
    return best


def random_instance(rng: np.random.Generator, n_users: int, m: int) -> tuple[Any, Any, Any, Any]:
    """Multiples of 1/8, which add up without rounding, with ties; fewer than m users may be unseen."""
    bound = np.sort(rng.integers(-16, 16, n_users) / 8)
    bound[n_users - int(rng.integers(0, m)) :] = np.inf
    score = rng.integers(-8, 9, n_users) / 8
    start = rng.permutation(n_users)
    return bound, score, start[:m], start[m:]


@pytest.mark.parametrize("n_users", range(2, 9))
def test_the_degree_is_that_of_the_papers_rules(n_users: int) -> None:
    for m in range(1, n_users):
        for members in combinations(range(n_users), m):
            listed = neighbours(frozenset(members), n_users)
            assert n_neighbours(n_users, m, members[0]) == len(listed)


@pytest.mark.parametrize("n_users", range(2, 7))
def test_neighbourhood_is_mutual_and_connects_all_selections(n_users: int) -> None:
    for m in range(1, n_users):
        graph = {
            members: neighbours(members, n_users)
            for members in map(frozenset, combinations(range(n_users), m))
        }
        assert all(v in graph[u] for v, around in graph.items() for u in around)
        reached, pending = set(), [next(iter(graph))]
        while pending:
            vertex = pending.pop()
            if vertex not in reached:
                reached.add(vertex)
                pending += graph[vertex]
        assert reached == set(graph)


def test_the_kernel_equals_a_slow_twin_on_the_same_draws() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        n_users = int(rng.integers(2, 9))
        m = int(rng.integers(1, n_users))
        bound, score, members, outsiders = random_instance(rng, n_users, m)
        scale, draws = float(rng.choice([0.05, 0.5, 5.0])), rng.random((12, 2))
        expected = slow_anneal(bound, score, members.tolist(), outsiders.tolist(), scale, draws)
        assert sorted(_anneal(bound, score, members, outsiders, scale, draws)) == expected


def test_the_kernel_returns_the_best_selection_it_met_and_keeps_its_books() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        n_users = int(rng.integers(2, 40))
        m = int(rng.integers(1, n_users))
        bound, score, members, outsiders = random_instance(rng, n_users, m)
        start = members.copy()
        best = _anneal(bound, score, members, outsiders, 1.0, rng.random((500, 2)))
        assert len(set(best.tolist())) == m
        # Members and outsiders still split the users after hundreds of moves.
        assert sorted([*members, *outsiders]) == list(range(n_users))

        def energy(users: Any, bound: Any = bound, score: Any = score) -> float:
            return float(bound[users].min() + score[users].sum())

        optimum = energy(pivot_and_fill(bound, score, m, rng))
        assert max(energy(start), energy(members)) <= energy(best) <= optimum


def test_no_iteration_returns_the_start() -> None:
    bound, score = np.arange(5.0), np.arange(5.0)
    best = _anneal(bound, score, np.array([2, 0]), np.array([1, 3, 4]), 1.0, np.empty((0, 2)))
    assert sorted(best) == [0, 2]


@pytest.mark.parametrize("members", [(0, 1, 2), (0, 3, 5), (2, 3, 4), (3, 4, 5), (1, 5)])
def test_neighbours_are_drawn_uniformly(members: tuple[int, ...]) -> None:
    n_users = 6
    outsiders = [k for k in range(n_users) if k not in members]
    score = np.isin(np.arange(n_users), outsiders).astype(float)  # so every neighbour improves
    bound = np.arange(n_users) * 1e-3
    rng, found = np.random.default_rng(2), Counter[frozenset[int]]()
    for draws in rng.random((6000, 1, 2)):
        best = _anneal(bound, score, np.array(members), np.array(outsiders), 1.0, draws)
        found[frozenset(best.tolist())] += 1
    assert set(found) == neighbours(frozenset(members), n_users)
    assert stats.chisquare(list(found.values())).pvalue > 1e-4


def test_worse_neighbours_are_accepted_with_the_probability_of_the_temperature() -> None:
    # Two users, one place: from the better (energy 1) the only neighbour is 1 worse; at iteration j the
    # temperature is scale / ln(1 + j), so the first move is taken with probability exp(-ln 2 / scale).
    bound, score, scale = np.zeros(2), np.array([0.0, 1.0]), 0.5
    rng, n, moved = np.random.default_rng(3), 4000, 0
    for draws in rng.random((n, 1, 2)):
        members = np.array([1])
        _anneal(bound, score, members, np.array([0]), scale, draws)
        moved += int(members[0] == 0)
    assert stats.binomtest(moved, n, 0.25).pvalue > 1e-4


def played(n_users: int, m: int, n_rounds: int, seed: int = 0) -> History:
    """A history of random selections."""
    rng = np.random.default_rng(seed)
    history = History.empty(rng.integers(50, 60, n_users), m, 0.05)
    for _ in range(n_rounds):
        users = rng.choice(n_users, m, replace=False)
        history.observe(Feedback(users, rng.uniform(0.05, 1, m), rng.uniform(0, 1, n_users)))
    return history


@pytest.mark.parametrize("seed", range(10))
def test_small_instances_are_solved_when_given_time(seed: int) -> None:
    history = played(8, 3, 40, seed)
    bound = confidence_bound(history, 1.0)
    assert np.isfinite(bound).all()
    annealed = SaPause(REWARD, settings(5000))(history, np.random.default_rng(seed))
    exact = pivot_and_fill(bound, REWARD.scores(history), 3, np.random.default_rng(seed))
    values = [REWARD.value(history, users, bound[users]) for users in (annealed, exact)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)


def test_more_iterations_come_closer_to_the_optimum() -> None:
    history = played(60, 5, 200)
    bound = confidence_bound(history, 1.0)

    def mean_value(n_iterations: int) -> float:
        select = SaPause(REWARD, settings(n_iterations))
        chosen = [select(history, np.random.default_rng(seed)) for seed in range(20)]
        return float(np.mean([REWARD.value(history, users, bound[users]) for users in chosen]))

    best = pivot_and_fill(bound, REWARD.scores(history), 5, np.random.default_rng(0))
    optimum = REWARD.value(history, best, bound[best])
    assert mean_value(1) < mean_value(30) < mean_value(1000) <= optimum + 1e-9


@pytest.mark.parametrize("n_rounds", [0, 1, 2, 3, 10])
def test_everyone_is_selected_when_all_users_are_wanted(n_rounds: int) -> None:
    users = SaPause(REWARD, settings())(played(4, 4, n_rounds), np.random.default_rng(0))
    np.testing.assert_array_equal(users, [0, 1, 2, 3])


@pytest.mark.parametrize(("n_users", "m"), [(12, 3), (6, 1), (5, 5)])
def test_everyone_plays_once_in_the_first_rounds(n_users: int, m: int) -> None:
    select, history = SaPause(REWARD, settings()), History.empty(np.full(n_users, 10), m, 0.05)
    for t in range(n_users // m):
        users = select(history, np.random.default_rng(t))
        history.observe(Feedback(users, np.full(m, 0.1), np.ones(n_users)))
    np.testing.assert_array_equal(history.participations, np.ones(n_users))


def test_who_plays_first_is_left_to_chance_among_users_alike() -> None:
    select, history = SaPause(REWARD, settings()), History.empty(np.full(5, 10), 2, 0.05)
    made = {tuple(select(history, np.random.default_rng(seed)).tolist()) for seed in range(200)}
    assert made == set(combinations(range(5), 2))


def test_iterations_and_temperature_are_those_of_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[float, int]] = []

    def spy(bound: Any, score: Any, members: Any, outsiders: Any, scale: float, draws: Any) -> Any:
        calls.append((scale, len(draws)))
        return _anneal(bound, score, members, outsiders, scale, draws)

    select, history = SaPause(REWARD, settings(123)), played(9, 3, 40)
    monkeypatch.setattr(annealing, "_anneal", spy)
    select(history, np.random.default_rng(0))
    bound = np.sort(confidence_bound(history, 1.0))
    # C = ucb of the m-th best - least ucb + alpha * 2 + gamma * 1, divided by kappa = 30.
    assert calls == [(pytest.approx((bound[-3] - bound[0] + 205) / 30), 123)]


def test_fewer_unseen_users_than_places_are_no_obstacle() -> None:
    history = played(7, 3, 1)
    history.observe(Feedback(np.flatnonzero(history.participations == 0)[:2], np.full(2, 0.1), np.ones(7)))
    assert (history.participations == 0).sum() == 2
    for seed in range(50):
        users = SaPause(REWARD, settings())(history, np.random.default_rng(seed))
        assert list(users) == sorted(set(users.tolist()))
        assert len(users) == 3


def test_the_same_stream_makes_the_same_choice() -> None:
    select, history = SaPause(REWARD, settings(10)), played(30, 5, 60)
    choices = [select(history, np.random.default_rng(7)).tolist() for _ in range(3)]
    assert choices[0] == choices[1] == choices[2]
    assert choices[0] != select(history, np.random.default_rng(8)).tolist()


def test_users_alike_in_everything_are_chosen_equally_often() -> None:
    history = History.empty(np.full(5, 10), 2, 0.05)
    for users in combinations(range(5), 2):
        history.observe(Feedback(np.array(users), np.full(2, 0.1), np.ones(5)))
    history.mean_speed[:] = 0.5
    select = SaPause(REWARD, settings(20))
    made = Counter(tuple(select(history, np.random.default_rng(seed))) for seed in range(2000))
    assert len(made) == 10
    assert stats.chisquare(list(made.values())).pvalue > 1e-4
