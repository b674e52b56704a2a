"""CS-UCB and CS-UCB-Q: equal to renderings that recompute everything from the list of past rounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.cs_ucb import CsUcb, CsUcbQ

SIZES = [10, 80, 35, 35, 60, 5, 50, 25]
Round = tuple[list[int], list[float]]


def slow_index(past: list[Round], k: int, exploration: float, latency_max: float) -> float:
    rewards = [1 - latency[users.index(k)] / latency_max for users, latency in past if k in users]
    if not rewards:
        return math.inf
    t = len(past) + 1
    return sum(rewards) / len(rewards) + math.sqrt(exploration * math.log(t) / len(rewards))


def slow_queue(past: list[Round], k: int, sizes: list[int], m: int) -> float:
    queue = 0.0
    for users, _ in past:
        queue = max(queue + m * sizes[k] / (2 * sum(sizes)) - (k in users), 0.0)
    return queue


def slow_worth(weight: float | None, past: list[Round], sizes: list[int], m: int, latency_max: float) -> Any:
    everyone = range(len(sizes))
    if weight is None:
        return np.array([slow_index(past, k, m + 1, latency_max) for k in everyone])
    estimate = [min(1.0, slow_index(past, k, 2.0, latency_max)) for k in everyone]
    queue = [slow_queue(past, k, sizes, m) for k in everyone]
    return np.array([(1 - weight) * estimate[k] + weight * queue[k] for k in everyone])


@pytest.mark.parametrize("weight", [None, 0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("all_there", [True, False])
def test_the_choice_is_that_of_a_slow_rendering(weight: float | None, m: int, all_there: bool) -> None:
    """Of CS-UCB without a weight of the queue, else of CS-UCB-Q."""
    rng, latency_max = np.random.default_rng(0), 0.8
    select = CsUcb(latency_max) if weight is None else CsUcbQ(latency_max, weight)
    history = History.empty(np.array(SIZES), m, 0.05)
    past: list[Round] = []
    made = set()
    for _ in range(200):
        if not all_there:
            history.available = np.isin(np.arange(8), rng.permutation(8)[: rng.integers(m, 9)])
        users = select(history, rng)
        assert len(set(users.tolist())) == m
        assert history.available[users].all()
        worth = slow_worth(weight, past, SIZES, m, latency_max)
        best = np.sort(worth[history.available])[::-1][:m]
        np.testing.assert_allclose(np.sort(worth[users])[::-1], best, rtol=0, atol=1e-9)
        if weight is not None and past:
            queue = [slow_queue(past, k, SIZES, m) for k in range(8)]
            np.testing.assert_allclose(select.queue, queue, atol=1e-12)  # type: ignore[union-attr]
        # Higher numbers are slower, some slower than tau_max; everyone's reward varies.
        latency = 0.1 * (users + 1) + rng.uniform(0, 0.4, m)
        told = Feedback(users, latency, np.ones(len(SIZES)))
        select.observe(told, history)
        history.observe(told)
        past.append((users.tolist(), told.latency.tolist()))
        made.add(tuple(users.tolist()))
    assert len(made) > 7
    assert history.participations.min() > 0
