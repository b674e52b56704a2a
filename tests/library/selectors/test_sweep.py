"""Sweep: neighbours in latency take turns, among those who took part least."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scenarios import changed

import pausefl
from pausefl.bandit.history import Feedback, History
from pausefl.errors import ConfigError
from pausefl.federated.untrained import selection_only
from pausefl.selectors.sweep import Sweep
from pausefl.settings import Scenario

#: Participations that no bound is set to.
NONE = 10**9


def known(last: list[int], taken: list[int], m: int = 2, round: int = 4) -> tuple[Sweep, History]:
    """A round among users of latencies 0.1, 0.2, ... s, and when each last took part, how often."""
    history = History.empty(np.full(len(last), 20), m, 0.05)
    history.round, history.participations = round, np.array(taken)
    history.mean_latency = 0.1 * np.arange(1, len(last) + 1) * (history.participations > 0)
    select = Sweep()
    select.last_round = np.array(last)
    return select, history


def chosen(select: Sweep, history: History, lag: int, seed: int = 0) -> list[int]:
    select.lag = lag
    return select(history, np.random.default_rng(seed)).tolist()


@pytest.mark.parametrize(
    ("last", "users"),
    [
        ([1, 1, 2, 2, 3, 3], [0, 1]),
        ([3, 3, 2, 2, 1, 1], [4, 5]),
        ([3, 1, 1, 3, 2, 2], [1, 2]),  # neighbours, and no fixed blocks
        ([2, 2, 2, 2, 2, 2], [0, 1]),  # of equal sums the fastest
        ([3, 3, 1, 3, 2, 1], [4, 5]),  # 2 + 3 is more than 3 + 1
    ],
)
def test_the_neighbours_who_waited_longest_are_selected(last: list[int], users: list[int]) -> None:
    select, history = known(last, [1] * 6)
    waits = 4 - np.array(last)
    sums = waits[1:] + waits[:-1]
    first = int(np.flatnonzero(sums == sums.max())[0])
    assert [first, first + 1] == users  # the case itself
    assert all(chosen(select, history, 1, seed) == users for seed in range(5))


@pytest.mark.parametrize(
    ("lag", "users"),
    [
        (0, [0, 1]),  # alone took part once
        (1, [2, 3]),
        (2, [4, 5]),
        (NONE, [6, 7]),
    ],
)
def test_candidates_are_at_most_the_lag_ahead(lag: int, users: list[int]) -> None:
    select, history = known([8, 8, 7, 7, 6, 6, 5, 5], [1, 1, 2, 2, 3, 3, 9, 9], round=10)
    assert chosen(select, history, lag) == users


def test_the_lag_is_raised_until_there_are_enough() -> None:
    select, history = known([9, 2, 3, 1, 1, 1], [1, 4, 4, 5, 5, 5], m=2, round=10)
    # Candidates are 0, 1 and 2; their waits are 1, 8 and 7.
    assert chosen(select, history, 0) == [1, 2]
    history.available = np.array([True, False, True, True, True, True])
    assert chosen(select, history, 0) == [0, 2]  # 1 is away: 0 and 2 are the only two with at most 4


def test_those_away_are_neither_candidates_nor_the_least_used() -> None:
    select, history = known([0, 9, 5, 5, 8, 8], [0, 1, 3, 3, 4, 4], round=10)
    history.available = np.array([False, False, True, True, True, True])
    assert chosen(select, history, 0) == [2, 3]
    assert chosen(select, history, 1) == [2, 3]
    history.available[3] = False
    assert chosen(select, history, 1) == [2, 4]  # neighbours, now that 3 is away


def test_those_not_seen_come_first_and_ties_are_broken_by_the_stream() -> None:
    select, history = known([3, 3, 3, 0, 0, 3], [1, 1, 1, 0, 0, 1])
    assert chosen(select, history, NONE) == [3, 4]
    fresh = Sweep(), History.empty(np.full(6, 20), 2, 0.05)
    drawn = Counter(user for seed in range(300) for user in chosen(*fresh, lag=1, seed=seed))
    assert set(drawn) == set(range(6))
    assert max(drawn.values()) - min(drawn.values()) < 60  # 100 each, standard deviation 8


def by_hand(past: list[tuple[list[int], list[float]]], there: list[int], n: int, m: int, lag: int) -> Any:
    """The selection from the list of past rounds, once all n users were seen."""
    taken, times, last = Counter[int](), {user: list[float]() for user in range(n)}, dict[int, int]()
    for t, (users, seconds) in enumerate(past, 1):
        for user, took in zip(users, seconds, strict=True):
            taken[user] += 1
            times[user].append(took)
            last[user] = t
    if len(last) < n:
        return None
    bound = min(taken[user] for user in there) + lag
    while sum(taken[user] <= bound for user in there) < m:
        bound += 1
    row = sorted((user for user in there if taken[user] <= bound), key=lambda user: np.mean(times[user]))
    blocks = [row[i : i + m] for i in range(len(row) - m + 1)]
    return sorted(max(blocks, key=lambda block: sum(len(past) + 1 - last[user] for user in block)))


@pytest.mark.parametrize("lag", [0, 1, 2, NONE])
def test_it_selects_as_a_slow_rendering_does(lag: int) -> None:
    n, m, rng = 9, 3, np.random.default_rng(lag)
    select, history = Sweep(lag), History.empty(np.full(n, 20), m, 0.01)
    past, n_compared = list[tuple[list[int], list[float]]](), 0
    for t in range(80):
        history.available = rng.permutation(n) < rng.integers(m, n + 1)
        users = select(history, rng)
        expected = by_hand(past, np.flatnonzero(history.available).tolist(), n, m, lag)
        if expected is not None:
            assert users.tolist() == expected, f"round {t + 1}"
            n_compared += 1
        told = Feedback(users, 0.1 * (users + 1) + rng.uniform(0, 0.4, m), np.ones(n))
        select.observe(told, history)
        history.observe(told)
        past.append((users.tolist(), told.latency.tolist()))
    assert n_compared > 50


def test_without_a_lag_a_picker_asks_everyone_once_before_anyone_again() -> None:
    picker = pausefl.Picker("sweep", dict.fromkeys(range(6), 10), 2, 0.05, 3.0, lag=0)
    past = list[tuple[list[int], list[float]]]()
    for t in range(12):
        asked = picker.select(picker.ids)
        if t >= 3:
            assert asked == by_hand(past, [*range(6)], 6, 2, 0)
        took = {one: 0.1 + 0.2 * int(str(one)) for one in asked}
        picker.observe(took)
        past.append(([int(str(one)) for one in asked], [*took.values()]))
        if t % 3 == 2:
            assert sorted(user for users, _ in past[-3:] for user in users) == [*range(6)]
    picker.join({"new": 10})
    assert "new" in picker.select(picker.ids)


def test_in_a_run_participations_differ_by_no_more_than_the_lag_allows(demo: Scenario) -> None:
    for lag in (0, 1, 2):
        simulation = selection_only(changed(demo, selection={"lag": lag}), "sweep", 3)
        counts = np.zeros(12, np.int64)
        spread = list[int]()
        for users in simulation.run(60).rounds["selection"]:
            counts[users] += 1
            spread.append(int(np.ptp(counts)))
        assert max(spread) == lag + 1
    free = selection_only(changed(demo, selection={"lag": NONE}), "sweep", 3).run(60).rounds
    assert len(free) == 60


def test_when_budgets_are_used_up_the_others_go_on(demo: Scenario) -> None:
    budget = {"schedule": "constant", "epsilon_each": 1.0, "epsilon_total": 3.0, "decay": None}
    simulation = selection_only(changed(demo, privacy=budget), "sweep", 0)
    rounds = simulation.run(14).rounds
    assert [len(users) for users in rounds["selection"]] == [3] * 12 + [0] * 2
    np.testing.assert_array_equal(simulation.ledger.participations, 3)


@pytest.mark.parametrize("lag", [-1, 1.5, "none", True, float("nan")])
def test_a_lag_that_cannot_be_is_refused(demo: Scenario, lag: Any) -> None:
    with pytest.raises(ConfigError, match=r"lag = .* must be"):
        changed(demo, selection={"lag": lag})
    with pytest.raises(ConfigError, match="lag"):
        pausefl.Picker("sweep", {"a": 1, "b": 2}, 1, 0.05, 1.0, lag=lag)
