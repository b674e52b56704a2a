"""The first K / m rounds of all searches, with `selection.first_rounds` of either value."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from pausefl.bandit.history import Feedback, History
from pausefl.selectors import SELECTORS
from pausefl.selectors.pause import Genie
from pausefl.selectors.search import Search
from pausefl.settings import Scenario

SEARCHES = [name for name, record in SELECTORS.items() if issubclass(record, Search) and record is not Genie]
every_search = pytest.mark.parametrize("name", SEARCHES)


def build(name: str, demo: Scenario, first_rounds: str) -> Search:
    selection = demo.selection.replace(n_iterations=20, temperature_divisor=30.0, first_rounds=first_rounds)
    select = demo.replace(selection=selection).make_selector(name)
    assert isinstance(select, Search)
    return select


def unequal(n_users: int, m: int) -> History:
    """Nobody seen yet; all sizes differ."""
    return History.empty(np.arange(n_users) * 10 + 50, m, 0.05)


@every_search
@pytest.mark.parametrize("first_rounds", ["maximise", "uniform"])
def test_everyone_plays_once_in_the_first_rounds(name: str, first_rounds: str, demo: Scenario) -> None:
    for n_users, m in ((12, 3), (6, 1), (5, 5)):
        select, history = build(name, demo, first_rounds), unequal(n_users, m)
        for t in range(n_users // m):
            users = select(history, np.random.default_rng(t))
            history.observe(Feedback(users, np.full(m, 0.1), np.full(n_users, 0.9)))
        np.testing.assert_array_equal(history.participations, np.ones(n_users))


@every_search
def test_uniform_first_rounds_take_any_users_not_seen_yet(name: str, demo: Scenario) -> None:
    history = unequal(7, 2)
    history.observe(Feedback(np.array([1, 4]), np.array([0.1, 0.2]), np.full(7, 0.9)))
    history.available[2] = False
    left = [0, 3, 5, 6]
    made = {}
    for first_rounds in ("maximise", "uniform"):
        select, rng = build(name, demo, first_rounds), np.random.default_rng(1)
        made[first_rounds] = Counter(tuple(select(history, rng).tolist()) for _ in range(600))
    assert set(made["maximise"]) == {(5, 6)}  # whose shares of the data are the largest
    assert set(made["uniform"]) == set(combinations(left, 2))
    assert stats.chisquare(list(made["uniform"].values())).pvalue > 1e-4
