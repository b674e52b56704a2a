"""Sweep with bounded lag: groups of similar speed take turns. A selector of this project (deviation D87)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.base import Remembered, Selector
from pausefl.selectors.look import SOLID, Look

Users = NDArray[np.int64]


class Sweep(Selector):
    """The m neighbours in order of latency who have waited longest, among those who took part least.

    With T_k participations, candidates are the available users with T_k <= min_j T_j + s; if they are fewer
    than m, s is raised until they are enough. Sorted by mean latency, those not seen first, they are
    k_1, ..., k_n. With w_k rounds since user k last took part, the selection is {k_i, ..., k_(i+m-1)} with

        i = argmax over i of w_{k_i} + ... + w_{k_(i+m-1)}, of equal sums the first, which is the fastest.

    A round lasts as long as its slowest user, so neighbours waste least of each other's time; and nobody who
    is more than s participations ahead is asked while m others can be, so budgets are spent evenly. A user
    who joins later counts from the m-th least T_j of those who are there.

    Attributes
    ----------
    lag
        s, by how many participations a candidate may be ahead.
    last_round
        (K,) round in which each user last took part, 0 before the first; empty before the first round.
    """

    remembered: ClassVar[Mapping[str, Remembered]] = {"last_round": Remembered(np.int64, 0, below="round")}
    look = Look("Sweep", "#B03A6F", "H", SOLID, width=1.5, zorder=3.95)

    def __init__(self, lag: int = 1) -> None:
        self.lag = lag
        self.last_round = np.zeros(0, np.int64)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users, m = rng.permutation(history.candidates()), history.n_selected
        taken = (history.participations + history.ahead)[users]
        most = max(int(taken.min()) + self.lag, int(np.partition(taken, m - 1)[m - 1]))
        users = users[taken <= most]
        users = users[np.argsort(history.mean_latency[users], kind="stable")]
        last = self.last_round[users] if len(self.last_round) else np.zeros(len(users), np.int64)
        waits = np.concatenate([[0], np.cumsum(history.round - last)])
        first = int(np.argmax(waits[m:] - waits[:-m]))
        return np.sort(users[first : first + m])

    def observe(self, feedback: Feedback, history: History) -> None:
        """Note who was asked."""
        if not len(self.last_round):
            self.last_round = np.zeros(len(history.participations), np.int64)
        self.last_round[feedback.users] = history.round

    def join(self, n_users: int) -> None:
        """A new user has waited since the start."""
        if len(self.last_round):
            self.last_round = np.pad(self.last_round, (0, n_users - len(self.last_round)))
