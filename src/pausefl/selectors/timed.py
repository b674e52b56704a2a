"""Selectors that look at latencies alone: TiFL and FedCS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.base import Remembered, Selector
from pausefl.selectors.look import DOT, LONG_DASH_DOT, Look

Users = NDArray[np.int64]


class Tifl(Selector):
    """Users drawn uniformly, m from one of T tiers of similar latency (Chai et al., HPDC 2020, 4.2 to 4.4).

    Profiling comes first: as long as users are available who have not taken part, the users selected are
    drawn from these. L_k is the mean latency of user k up to then, and of the n users who have taken part
    tier(k) = floor(T |{j : L_j < L_k}| / n). Once everyone has, tiers stay as they are.

    A round without users to profile draws one of the tiers that have m available users, each as likely. If
    there is none, m users are drawn from everyone available.

    Attributes
    ----------
    n_tiers
        The number T of tiers.
    tier
        (K,) tier of each user, from 0; empty until everyone has taken part.
    """

    remembered: ClassVar[Mapping[str, Remembered]] = {"tier": Remembered(np.int64, 0, below="n_tiers")}
    look = Look("TiFL (uniform)", "#7B4FA3", "<", LONG_DASH_DOT, zorder=2.88)

    def __init__(self, n_tiers: int) -> None:
        self.n_tiers = n_tiers
        self.tier = np.zeros(0, np.int64)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users, m = history.candidates(), history.n_selected
        tier = self._tiers(history)
        if not len(tier):
            users = rng.permutation(users)
            profiled = history.participations[users] > 0
            return np.sort(users[np.argsort(profiled, kind="stable")[:m]])
        n_available = np.bincount(tier[history.available], minlength=self.n_tiers)
        full = n_available >= m
        if full.any():
            users = users[tier[users] == rng.choice(self.n_tiers, p=full / full.sum())]
        return np.sort(rng.choice(users, m, replace=False))

    def observe(self, feedback: Feedback, history: History) -> None:
        """Keep the tiers of the first round in which nobody is left to profile."""
        if (history.participations > 0).all():
            self.tier = self._tiers(history)

    def join(self, n_users: int) -> None:
        """Profile again; only new users have not taken part yet."""
        self.tier = self.tier[:0]

    def _tiers(self, history: History) -> Users:
        """Tier (K,) of each user; empty if there are users to profile. Users never seen are in the last."""
        seen = history.participations > 0
        if len(self.tier) or (history.available & ~seen).any():
            return self.tier
        latency = np.where(seen, history.mean_latency, np.inf)
        n_faster = np.searchsorted(np.sort(latency), latency)
        return np.minimum(self.n_tiers * n_faster // max(int(seen.sum()), 1), self.n_tiers - 1)


class FedCs(Selector):
    """The most of n random users that can be expected to meet the deadline (Nishio and Yonetani, ICC 2019).

    Maximise the number of users in S subject to T(S) <= T_round (eq. 2), over subsets S of n candidates drawn
    uniformly. Here users work side by side, so T(S) is the largest estimated latency in S, and Algorithm 3,
    which adds the user that takes the least further time as long as the deadline holds, selects every
    candidate whose estimate is at most T_round. The estimate is the mean latency observed, and 0 for users
    never seen. If no candidate meets the deadline, the one of least estimate takes part.

    The number of users selected is not m: it depends on the deadline, and lies between 1 and n.

    Attributes
    ----------
    deadline
        T_round in seconds.
    n_requested
        The number n of users asked for their resources in a round, K x C in the paper; None for m.
    """

    own_number = True
    look = Look("FedCS (deadline)", "#A678CC", "<", DOT, width=1.5, zorder=2.86, hollow=True)

    def __init__(
        self, deadline: float, n_candidates: int | None = None, n_requested: int | None = None
    ) -> None:
        self.deadline, self.n_requested = deadline, n_requested or n_candidates

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select users that meet the deadline."""
        n_requested = self.n_requested or history.n_selected
        users = rng.permutation(history.candidates())[:n_requested]
        latency = history.mean_latency[users]
        in_time = users[latency <= self.deadline]
        return np.sort(in_time if len(in_time) else users[[latency.argmin()]])
