"""Rewards of a selection: generalisation, privacy and speed (PAUSE v2, Sections III-A, III-D and V-A).

Conventions of the authors' code, which reproduce its logs: at round t the quantities use what was seen up
to t - 1, with ln t in the bandit index and T_k(t - 1) / t in the generalisation reward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pausefl.config import RewardSettings
from pausefl.history import History

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


def generalization(history: History, beta: float) -> Floats:
    """g_k (K,): how much less a user took part than its share of the data (v2, eq. 8).

    In [-1, 1] as long as no user holds more than 1 / m of all data.
    """
    share = history.n_selected * history.data_size / history.data_size.sum()
    gap = share - history.participations / history.round
    return np.asarray(np.abs(gap) ** beta * np.sign(gap))


def confidence_bound(history: History, exploitation: float) -> Floats:
    """ucb(k, t) (K,): amplified mean speed plus exploration; infinite for users never seen (v2, eq. 13)."""
    seen = history.participations > 0
    bound = np.full(seen.shape, np.inf)
    exploration = (history.n_selected + 1) * np.log(history.round) / history.participations[seen]
    bound[seen] = exploitation * history.mean_speed[seen] + np.sqrt(exploration)
    return bound


@dataclass(frozen=True)
class AverageReward:
    """R1: both the generalisation and the privacy term are means over the selection (v2, eq. 18).

    A selection S of m users is worth ``min speed + sum over S of score`` with
    ``score_k = (alpha g_k + gamma p_k) / m``.
    """

    alpha: float
    beta: float
    gamma: float

    def scores(self, history: History) -> Floats:
        """score_k (K,) for selections of ``history.n_selected`` users."""
        gain = self.alpha * generalization(history, self.beta) + self.gamma * history.privacy
        return np.asarray(gain / history.n_selected)

    def value(self, history: History, selection: Users, speed: Floats) -> float:
        """Alpha Phi_g + gamma Phi_p + min speed of a selection of any size (v2, eq. 9).

        Parameters
        ----------
        history
            What was seen before the round.
        selection
            Users of the selection.
        speed
            tau_min / tau of those users, same shape: realised for the reward, expected for the genie.
        """
        mean_score = self.scores(history)[selection].mean() * history.n_selected
        return float(speed.min() + mean_score)

    @property
    def range(self) -> float:
        """Largest possible difference of the value apart from speed: g spans 2 and p spans 1 (v2, III-D)."""
        return 2 * self.alpha + self.gamma


REWARDS: dict[str, Callable[[RewardSettings], AverageReward]] = {
    "r1": lambda settings: AverageReward(settings.alpha, settings.beta, settings.gamma),
}
