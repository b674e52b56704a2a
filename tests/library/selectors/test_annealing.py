"""Annealing: the graphs are the papers', the compiled walk is a slow one, its limit is a maximiser."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbourhoods import distribution, graph, moves, neighbours, slow_anneal
from numpy.typing import NDArray
from oracles import Concave, random_history, worth

from pausefl.bandit.history import History
from pausefl.bandit.rewards import (
    AverageReward,
    OverlapReward,
    QualityReward,
    Reward,
    confidence_bound,
    generalization,
)
from pausefl.reproduction.searches.listing import walk
from pausefl.selectors.sa_pause import Alsa, Annealer, SaBsfl, SaPause, SaPauseV1, SaVanilla
from pausefl.selectors.search import Objective

ALL = [SaPause, SaPauseV1, SaVanilla, Alsa, SaBsfl]
WITHOUT_PRIVACY = [Alsa, SaBsfl]

R1 = AverageReward(2.0, 2.0, 5.0)
R2 = OverlapReward(2.0, 2.0, 5.0, 0.25, 0.05)
QUALITY = QualityReward(2.0, 2.0, 0.0)
CONCAVE = Concave(2.0, 2.0, 5.0)
REWARDS: dict[str, Reward] = {"r1": R1, "r2": R2, "bsfl": QUALITY, "concave": CONCAVE}
every_selector = pytest.mark.parametrize("cls", ALL)
every_reward = pytest.mark.parametrize("reward", REWARDS)


def make(cls: type[Annealer], reward: Reward = R1, n_iterations: int = 300, divisor: float = 30.0) -> Any:
    return cls(reward, 1.0, n_iterations, divisor)


def lists(cls: type[Annealer], history: History, reward: str = "r1") -> list[NDArray[np.float64]]:
    """The papers' sorted lists."""
    weight = history.quality * history.data_size if reward == "bsfl" else history.data_size
    ucb, p, g = confidence_bound(history, 1.0), history.privacy, generalization(history, 2.0, weight)
    return {SaPause: [ucb], SaPauseV1: [ucb, p, g], SaVanilla: [], Alsa: [ucb, g], SaBsfl: []}[cls]


def whole(select: Annealer, history: History) -> tuple[Objective, History, NDArray[np.int64]]:
    """What a search among all users is given."""
    users = np.arange(len(history.data_size))
    return Objective.of(history, select.reward, select.bound(history), users), history, users


@given(st.integers(0, 2**32), st.integers(0, 3))
def test_moves_of_the_slow_search_lead_to_the_papers_neighbours(seed: int, n_lists: int) -> None:
    rng = np.random.default_rng(seed)
    n_users = int(rng.integers(2, 9))
    m, drawn = int(rng.integers(1, n_users)), rng.permutation(n_users).tolist()
    orders = [rng.permutation(n_users).tolist() for _ in range(n_lists)]
    swaps = moves(orders, drawn[:m], drawn[m:])
    reached = {frozenset(drawn[:m]) - {drawn[place]} | {entering} for place, entering in swaps}
    assert reached == neighbours(frozenset(drawn[:m]), n_users, orders)


@every_selector
@every_reward
def test_a_search_is_the_slow_one_on_the_selectors_lists(cls: type[Annealer], reward: str) -> None:
    rng = np.random.default_rng(11)
    for seed in range(8):
        history = random_history(rng, 8, 3, n_unseen=seed % 3)
        history.privacy[rng.permutation(8)[:4]] = 0.5  # tied, as g is for equal sizes
        history.data_size[:4] = history.data_size[0]
        select = make(cls, REWARDS[reward], 60, float(rng.choice([1.0, 10.0])))
        objective, *given = whole(select, history)
        best = select.anneal(objective, *given, np.random.default_rng(seed))
        np.testing.assert_array_equal(select(history, np.random.default_rng(seed)), np.sort(best))
        rounded = {what: np.round(getattr(objective, what) * 2**20) / 2**20 for what in ("bound", "score")}
        objective = dataclasses.replace(objective, **rounded)  # sums are exact, so ties are ties
        energies = np.empty(60)
        best = select.anneal(objective, *given, np.random.default_rng(seed), energies=energies)
        stream = np.random.default_rng(seed)
        shuffled, start = stream.permutation(8).tolist(), stream.permutation(8).tolist()
        orders = [sorted(shuffled, key=v.tolist().__getitem__) for v in lists(cls, history, reward)]
        scale = select.largest_gap(objective, *given) / select.temperature_divisor
        expected = slow_anneal(objective, orders, start[:3], start[3:], scale, 60, stream)
        assert sorted(best.tolist()) == expected[0]
        np.testing.assert_array_equal(energies, expected[1])


@every_selector
def test_the_objective_is_the_papers(cls: type[Annealer]) -> None:
    history, select = random_history(np.random.default_rng(12)), make(cls, R2)
    objective, *_ = whole(select, history)
    bound, g = confidence_bound(history, 1.0), generalization(history, 2.0, history.data_size)
    gamma = 0.0 if cls in WITHOUT_PRIVACY else 5.0
    for users in combinations(range(9), 3):
        s = list(users)
        overlaps = 3 - len(set(history.cluster[s].tolist()))
        expected = min(bound[s]) + 2.0 * g[s].mean() + gamma * history.privacy[s].mean() - 0.5 * overlaps
        assert worth(objective, users) == pytest.approx(expected)


def test_the_temperature_of_plain_annealing_is_that_of_the_paper() -> None:
    history = random_history(np.random.default_rng(16), 7, 3, 2)
    for reward, penalty in ((R1, 0.0), (R2, 3 * 2.0 * 0.25)):
        select = make(SaVanilla, reward)
        assert select.largest_gap(*whole(select, history)) == 2 * 2.0 + 5.0 + 1 + penalty


@pytest.mark.parametrize("cls", [SaPause, SaPauseV1, Alsa, SaBsfl])
@every_reward
def test_no_two_energies_differ_by_more_than_the_largest_gap(cls: type[Annealer], reward: str) -> None:
    rng = np.random.default_rng(17)
    for seed in range(30):
        n_users = int(rng.integers(4, 9))
        m = int(rng.integers(1, 4))
        # Nobody has more than 1 / m of the data.
        history = random_history(rng, n_users, m, n_unseen=seed % m)
        history.data_size[:] = rng.integers(30, 40, n_users)
        history.quality[:] = rng.uniform(0.8, 1.0, n_users)
        select = make(cls, REWARDS[reward])
        objective, *given = whole(select, history)
        energies = [worth(objective, s) for s in combinations(range(n_users), m)]
        assert np.ptp(energies) <= select.largest_gap(objective, *given)


# The walk that lists neighbours

N_USERS, M = 6, 3


def instance(seed: int, n_lists: int) -> tuple[Objective, tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(seed)
    criteria = tuple(rng.random(N_USERS) for _ in range(n_lists))
    nobody = np.zeros(N_USERS, np.int64)
    return Objective(rng.random(N_USERS), rng.random(N_USERS), nobody, np.zeros(M)), criteria


@pytest.mark.parametrize("n_lists", [0, 1, 2])
def test_the_last_vertex_of_a_walk_that_lists_neighbours_has_the_law_of_the_exact_chain(n_lists: int) -> None:
    objective, criteria = instance(3, n_lists)
    edges = graph(N_USERS, M, [np.argsort(values).tolist() for values in criteria])
    n, n_iterations, scale = 4000, 8, 0.5
    wanted = distribution(objective, edges, scale, n_iterations)
    ends = [
        walk(objective, criteria, scale, n_iterations, np.random.default_rng(seed)).energies[-1]
        for seed in range(n)
    ]
    for vertex, probability in zip(edges, wanted, strict=True):
        held = np.isclose(ends, worth(objective, tuple(vertex))).mean()
        assert abs(held - probability) < 5 * math.sqrt(probability * (1 - probability) / n) + 1e-9
