"""The search that values every selection."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from oracles import KINDS, Concave, maximisers, problem, random_history, random_problem
from scipy import stats

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.rewards import AverageReward, OverlapReward, Reward, confidence_bound
from pausefl.errors import ConfigError
from pausefl.selectors.brute import BrutePause
from pausefl.selectors.enumeration import enumerate_selections
from pausefl.selectors.pause import Pause
from pausefl.selectors.search import Objective

R1 = AverageReward(2.0, 2.0, 5.0)
R2 = OverlapReward(2.0, 2.0, 5.0, 0.25, 0.05)
BRUTE = BrutePause(R1, 1.0)
UNUSED = random_history(np.random.default_rng(0))


def choose(objective: Objective, seed: int = 0) -> tuple[int, ...]:
    users = np.arange(len(objective.bound))
    chosen = BRUTE.search(objective, UNUSED, users, np.random.default_rng(seed))
    return tuple(sorted(chosen.tolist()))


@pytest.mark.parametrize("kind", KINDS)
def test_the_choice_is_an_enumerated_optimum(kind: str) -> None:
    rng = np.random.default_rng(0)
    for seed in range(500):
        objective = random_problem(rng, kind)
        assert choose(objective, seed) in maximisers(objective), objective


def test_the_choice_is_an_enumerated_optimum_whatever_the_penalty() -> None:
    rng = np.random.default_rng(1)
    not_convex = 0
    for seed in range(500):
        given = random_problem(rng, "convex")
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


def test_only_the_available_users_count_towards_too_many() -> None:
    history = random_history(np.random.default_rng(0), 60, 6)
    history.available[10:] = False
    chosen = BRUTE(history, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 6
    assert chosen.max() < 10


@pytest.mark.parametrize("reward", [R1, R2])
@pytest.mark.parametrize(("n_users", "m"), [(9, 3), (11, 4)])
def test_pause_chooses_as_well_in_every_round(reward: Reward, n_users: int, m: int) -> None:
    rng = np.random.default_rng(0)
    history = History.empty(rng.integers(20, 100, n_users), m, 0.05, cluster=np.arange(n_users) % 4)
    pause, brute, settled = Pause(reward, 3.0), BrutePause(reward, 3.0), 0
    for _ in range(60):
        bound = confidence_bound(history, 3.0)
        ours, theirs = pause(history, rng), brute(history, rng)
        values = [reward.value(history, s, bound[s]) for s in (ours, theirs)]
        assert values[0] == pytest.approx(values[1], abs=1e-9)
        settled += np.isfinite(bound).all()
        history.observe(Feedback(theirs, rng.uniform(0.05, 1, m), rng.uniform(0, 1, n_users)))
    assert settled > 50


def test_the_best_of_the_unseen_is_found_whatever_the_penalty() -> None:
    history = History.empty(np.full(4, 10), 2, 0.05, cluster=np.array([0, 0, 1, 1]))
    made = {
        tuple(BrutePause(Concave(2.0, 2.0, 5.0), 1.0)(history, np.random.default_rng(seed)).tolist())
        for seed in range(30)
    }
    assert made == {(0, 1), (2, 3)}  # a pair of one cluster costs 2.5, any other 6
