"""What the server has seen: the only thing a selector may look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Feedback:
    """What one round reveals to the server.

    Attributes
    ----------
    users
        (n,) ids of the users that took part.
    latency
        (n,) their latencies in seconds, as observed.
    privacy
        (K,) p_k after the round: the share of each user's budget that is left, in [0, 1] (v2, eq. 7).
    """

    users: NDArray[np.int64]
    latency: NDArray[np.float64]
    privacy: NDArray[np.float64]


@dataclass
class History:
    """Everything observed before round ``round``, updated by one `Feedback` a round.

    Attributes
    ----------
    data_size
        (K,) number of training examples of each user.
    n_selected
        m, the number of users to select.
    latency_floor
        tau_min in seconds.
    round
        t, 1-based: the round about to be selected for.
    participations
        (K,) T_k(t - 1).
    mean_speed
        (K,) mean of tau_min / tau over the rounds a user took part in; 0 before the first (v2, eq. 12).
    privacy
        (K,) p_k(t - 1); ones at the start.
    """

    data_size: NDArray[np.int64]
    n_selected: int
    latency_floor: float
    round: int
    participations: NDArray[np.int64]
    mean_speed: NDArray[np.float64]
    privacy: NDArray[np.float64]

    @classmethod
    def empty(cls, data_size: NDArray[np.int64], n_selected: int, latency_floor: float) -> History:
        """The history before the first round."""
        n_users = len(data_size)
        return cls(
            data_size=data_size,
            n_selected=n_selected,
            latency_floor=latency_floor,
            round=1,
            participations=np.zeros(n_users, np.int64),
            mean_speed=np.zeros(n_users),
            privacy=np.ones(n_users),
        )

    def observe(self, feedback: Feedback) -> None:
        """Take in what a round revealed, and move on to the next round."""
        users = feedback.users
        self.participations[users] += 1
        speed = self.latency_floor / feedback.latency
        self.mean_speed[users] += (speed - self.mean_speed[users]) / self.participations[users]
        self.privacy = feedback.privacy
        self.round += 1
