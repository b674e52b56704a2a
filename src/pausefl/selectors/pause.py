"""PAUSE, BSFL and the genie: exact maximisers (PAUSE v2, eqs. 10, 14 and Algorithm 2; BSFL, eqs. 6, 13)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import Reward
from pausefl.errors import ConfigError
from pausefl.selectors.look import SOLID, Look
from pausefl.selectors.search import Objective, Search

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


class Pause(Search):
    """PAUSE, searched exactly (v2, Algorithms 1 and 2).

    Raises
    ------
    ConfigError
        If the reward's penalty is not convex in the number of users of a cluster.
    """

    look = Look("PAUSE", "#0072B2", "o", SOLID, width=1.8, zorder=4.0, legend=4.3)

    def __init__(self, reward: Reward, exploitation: float, first_rounds: str = "maximise") -> None:
        super().__init__(reward, exploitation, first_rounds)
        self.warm_up()

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Pivot-and-Fill."""
        if not objective.is_convex:
            raise ConfigError(
                f"the penalty of {type(self.reward).__name__} is not convex in the number of users of a"
                " cluster, so the exact search could miss the best selection. Use an annealing selector, or"
                " pause_brute in small networks."
            )
        from pausefl.selectors.exact import pivot_and_fill  # it loads a compiler

        return pivot_and_fill(objective, rng)


class Bsfl(Pause):
    """BSFL (Algorithm 1, eq. 13): PAUSE without the privacy term."""

    with_privacy = False
    look = Look("BSFL", "#0CA87C", "X", SOLID, width=1.6, zorder=3.7, legend=3.76)


class Genie(Pause):
    """The maximiser that knows the true expected speeds mu_k (v2, eq. 10; BSFL, eq. 6)."""

    look = Look("Genie", "#000000", "o", SOLID, width=1.0, zorder=3.5, hollow=True)

    def __init__(self, reward: Reward, speeds: Floats, first_rounds: str = "maximise") -> None:
        super().__init__(reward, 1.0, first_rounds)
        self.speeds = speeds

    def bound(self, history: History) -> Floats:
        """The true speeds (K,), whatever was seen."""
        return self.speeds
