"""PAUSE by enumeration of all selections (PAUSE v2, eq. 14): the oracle of tests and the cost in Table I."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import Reward
from pausefl.errors import ConfigError
from pausefl.selectors.look import SHORT_DASH, Look
from pausefl.selectors.search import Objective, Search

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


#: Most selections that it enumerates.
MAX_SELECTIONS = 5_000_000


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
        If there are more than `MAX_SELECTIONS` selections.
    """

    most_selections = MAX_SELECTIONS
    look = Look("PAUSE (enumeration)", "#00182B", "h", SHORT_DASH, zorder=4.1)

    def __init__(self, reward: Reward, exploitation: float, first_rounds: str = "maximise") -> None:
        super().__init__(reward, exploitation, first_rounds)
        self.warm_up()

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Value every selection."""
        from pausefl.selectors.enumeration import enumerate_selections  # it loads a compiler

        _check_size(len(users), objective.n_selected)
        order = rng.permutation(len(users))  # so that rounding favours no user number
        best: Users = enumerate_selections(
            objective.bound[order],
            objective.score[order],
            objective.cluster[order],
            objective.costs,
            rng,
        )
        return order[best]
