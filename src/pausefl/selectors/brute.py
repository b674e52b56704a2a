"""PAUSE by enumeration of all selections (PAUSE v2, eq. 14): the oracle of tests and the cost in Table I."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import Reward
from pausefl.errors import ConfigError
from pausefl.registry.selectors import MAX_SELECTIONS
from pausefl.selectors.search import Objective, Search
from pausefl.settings import Scenario

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def _enumerate(
    bound: Floats, score: Floats, cluster: Users, costs: Floats, rng: np.random.Generator
) -> Users:
    """Best of all selections; ties at random."""
    n_users, m = bound.shape[0], costs.shape[0]
    chosen, best = np.arange(m), np.arange(m)
    counts = np.zeros(cluster.max() + 1, np.int64)
    best_value, n_best = -np.inf, 0
    while True:
        lowest, total = np.inf, 0.0
        for k in chosen:
            lowest = min(lowest, bound[k])
            total += score[k] - costs[counts[cluster[k]]]
            counts[cluster[k]] += 1
        for k in chosen:
            counts[cluster[k]] = 0
        value = lowest + total
        if value > best_value:
            best_value, n_best = value, 0
        if value == best_value:
            n_best += 1
            if n_best == 1 or rng.random() * n_best < 1.0:
                best[:] = chosen
        last = m - 1  # the next selection in lexicographic order
        while last >= 0 and chosen[last] == n_users - m + last:
            last -= 1
        if last < 0:
            return best
        chosen[last:] = np.arange(chosen[last] + 1, chosen[last] + 1 + m - last)


def _check_size(n_users: int, m: int) -> None:
    """Raise `ConfigError` if there are too many selections."""
    n_selections = math.comb(n_users, m)
    if n_selections > MAX_SELECTIONS:
        raise ConfigError(
            f"pause_brute would enumerate {n_selections:.3g} selections of {m} out of {n_users} users, more"
            f" than {MAX_SELECTIONS:.0e}. Use pause, whose search is exact at any size."
        )


class BrutePause(Search):
    """PAUSE by enumeration.

    Raises
    ------
    ConfigError
        If there are more than `pausefl.registry.selectors.MAX_SELECTIONS` selections.
    """

    def __init__(self, reward: Reward, exploitation: float) -> None:
        super().__init__(reward, exploitation)
        one = np.zeros(1)  # compile, or load what was compiled, before the first round
        _enumerate(one, one, np.zeros(1, np.int64), one, np.random.default_rng(0))

    @classmethod
    def build(cls, scenario: Scenario) -> Self:
        """Selector with the scenario's reward, unless its network is too large."""
        _check_size(scenario.network.n_users, scenario.network.n_selected)
        return super().build(scenario)

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Value every selection."""
        _check_size(len(users), objective.n_selected)
        order = rng.permutation(len(users))  # so that rounding favours no user number
        return order[
            _enumerate(
                objective.bound[order],
                objective.score[order],
                objective.cluster[order],
                objective.costs,
                rng,
            )
        ]
