"""The search that values every selection."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from oracles import KINDS, maximisers, problem, random_history, random_problem
from scipy import stats

from pausefl.bandit.rewards import AverageReward
from pausefl.errors import ConfigError
from pausefl.selectors.brute import BrutePause
from pausefl.selectors.enumeration import enumerate_selections
from pausefl.selectors.search import Objective

R1 = AverageReward(2.0, 2.0, 5.0)
BRUTE = BrutePause(R1, 1.0)
UNUSED = random_history(np.random.default_rng(0))


def choose(objective: Objective, seed: int = 0) -> tuple[int, ...]:
    users = np.arange(len(objective.bound))
    chosen = BRUTE.search(objective, UNUSED, users, np.random.default_rng(seed))
    return tuple(sorted(chosen.tolist()))


def test_the_choice_is_an_enumerated_optimum_whatever_the_penalty() -> None:
    rng = np.random.default_rng(1)
    not_convex = 0
    for seed in range(1000):
        given = random_problem(rng, KINDS[seed % len(KINDS)])
        costs = rng.permutation(given.costs)
        objective = problem(given.bound, given.score, len(costs), given.cluster, costs)
        assert choose(objective, seed) in maximisers(objective), objective
        not_convex += not objective.is_convex
    assert not_convex > 100


@pytest.mark.parametrize(
    "objective",
    [
        problem([1] * 5, [0] * 5, 2),
        problem([2, 2, 1, 1, 1], [0, 0, 1, 1, 0], 1),
        problem([0, 0, 0, 1, 1], [2, 1, 1, 1, 1], 2),
        problem([1] * 5, [0] * 5, 3, [0, 0, 1, 1, 1], [0, 1, 1]),
        problem([1] * 6, [0] * 6, 3, [0, 0, 0, 1, 1, 1], [2, 1, 0]),
    ],
)
def test_all_tied_selections_are_equally_likely(objective: Objective) -> None:
    values = objective.bound, objective.score, objective.cluster, objective.costs
    in_order = Counter(
        tuple(enumerate_selections(*values, np.random.default_rng(seed))) for seed in range(3000)
    )
    for made in (in_order, Counter(choose(objective, seed) for seed in range(3000))):
        assert set(made) == maximisers(objective)
        assert stats.chisquare(list(made.values())).pvalue > 1e-4


@pytest.mark.parametrize(("n_users", "m"), [(60, 6), (1000, 990)])
def test_too_many_selections_are_refused_naming_the_alternative(n_users: int, m: int) -> None:
    history = random_history(np.random.default_rng(0), n_users, m)
    with pytest.raises(ConfigError, match=rf"selections of {m} out of {n_users} users.* Use pause,"):
        BRUTE(history, np.random.default_rng(0))
