"""TiFL and FedCS: equal to renderings that recompute everything from the list of past rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import Round, assert_chances, fedcs_largest, tifl_chances
from scenarios import changed
from scipy import stats

from pausefl.bandit.history import Feedback, History
from pausefl.errors import ConfigError
from pausefl.selectors.timed import FedCs, Tifl
from pausefl.settings import Scenario

N_USERS, M = 12, 3


def start(m: int = M) -> History:
    return History.empty(np.arange(20, 20 + N_USERS), m, 0.05)


def some(rng: np.random.Generator, least: int = M) -> Any:
    """Random users available, at least so many."""
    return rng.permutation(N_USERS) < rng.integers(least, N_USERS + 1)


def play(select: Any, history: History, rng: np.random.Generator) -> Round:
    """One round of a selector; higher numbers tend to be slower."""
    users = select(history, rng)
    assert history.available[users].all()
    latency = 0.1 * (users + 1) + rng.uniform(0, 0.3, len(users))
    told = Feedback(users, latency, np.ones(N_USERS))
    select.observe(told, history)
    history.observe(told)
    return np.flatnonzero(history.available).tolist(), users.tolist(), latency.tolist()


@pytest.mark.parametrize("n_tiers", [3, 4])
@pytest.mark.parametrize("all_there", [True, False])
def test_tifl_selects_with_the_probabilities_of_a_slow_rendering(n_tiers: int, all_there: bool) -> None:
    rng, history, select = np.random.default_rng(0), start(), Tifl(n_tiers)
    past: list[Round] = []
    n_rounds_with_tiers = 0
    for _ in range(40):
        if not all_there:
            history.available = some(rng)
        there = np.flatnonzero(history.available).tolist()
        assert_chances(select, history, tifl_chances(past, there, N_USERS, M, n_tiers), 300)
        n_rounds_with_tiers += len(select.tier) > 0
        past.append(play(select, history, rng))
    assert n_rounds_with_tiers > 20


def test_fedcs_selects_the_largest_set_that_meets_the_deadline() -> None:
    rng, history = np.random.default_rng(3), start()
    select, sizes = FedCs(deadline=0.8, n_candidates=6), set()
    for t in range(200):
        history.available = some(rng)
        candidates = np.random.default_rng(t).permutation(history.candidates())[:6].tolist()
        users = select(history, np.random.default_rng(t))
        assert (np.diff(users) > 0).all()
        assert set(users.tolist()) == fedcs_largest(candidates, history.mean_latency.tolist(), 0.8)
        sizes.add(len(users))
        play(select, history, rng)
    assert sizes == {1, 2, 3, 4, 5, 6}
    unseen = FedCs(deadline=0.01, n_candidates=4)
    assert len(unseen(start(), rng)) == 4  # nobody is known to be late
    assert len(unseen(history, rng)) == 1  # everybody is


def test_fedcs_draws_its_candidates_uniformly() -> None:
    select, history = FedCs(deadline=1.0, n_candidates=4), start()
    made = [select(history, np.random.default_rng(seed)) for seed in range(600)]
    assert stats.chisquare(np.bincount(np.concatenate(made), minlength=N_USERS)).pvalue > 1e-4


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"n_tiers": 5}, "n_tiers = 5 makes tiers of 2 users.*n_selected = 3: at most 4"),
        ({"n_candidates": 2}, r"n_candidates = 2 must lie in 3 \.\. 12"),
        ({"n_candidates": 13}, r"n_candidates = 13 must lie in 3 \.\. 12"),
    ],
)
def test_impossible_constants_are_refused(demo: Scenario, values: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        changed(demo, selection=values)
