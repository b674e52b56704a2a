"""CS-UCB and CS-UCB-Q (Xia et al., IEEE Transactions on Wireless Communications, 2020), BSFL's peers [29].

A user's reward is 1 - tau / tau_max. CS-UCB selects every user once, then the m users of largest
mean reward + sqrt((m + 1) ln t / T_k).

CS-UCB-Q adds fairness for unequal data. With y_k = min(1, mean reward + sqrt(2 ln t / T_k)), 1 for users
never seen, it selects the m users of largest (1 - b) y_k + b D_k. The virtual queue D_k <- max(D_k + c_k -
b_k, 0) grows by the share c_k of the rounds that user k is due, here m |D_k| / (2 |D|), and falls by b_k = 1
when the user is selected. The queue weight b is a setting, since public implementations differ in it (D58).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.base import Remembered, Selector
from pausefl.selectors.look import DASH_DOT_DOT, LONG_DASH, Look

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: The share of the rounds that a user is due, relative to its share m |D_k| / |D| of the data.
_DUE_SHARE = 0.5


def _index(history: History, latency_max: float, exploration: float) -> Floats:
    """Mean reward plus sqrt(exploration ln t / T_k), (K,); infinite for users never seen."""
    seen = history.participations > 0
    index = np.full(seen.shape, np.inf)
    reward = 1.0 - history.mean_latency[seen] / latency_max
    index[seen] = reward + np.sqrt(exploration * np.log(history.round) / history.participations[seen])
    return index


def _largest(index: Floats, history: History, rng: np.random.Generator) -> Users:
    """The m available users of largest index (K,), ties at random."""
    users = rng.permutation(history.candidates())
    return np.sort(users[np.argsort(-index[users], kind="stable")[: history.n_selected]])


class CsUcb(Selector):
    """The m users of largest bandit index of speed, CS-UCB (Xia et al., IEEE TWC 2020).

    Attributes
    ----------
    latency_max
        tau_max in seconds; a slower user has a negative reward.
    """

    look = Look("CS-UCB", "#8A8A1C", "p", DASH_DOT_DOT, zorder=3.0)

    def __init__(self, round_latency_max: float) -> None:
        self.latency_max = round_latency_max

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        return _largest(_index(history, self.latency_max, history.n_selected + 1), history, rng)


class CsUcbQ(CsUcb):
    """CS-UCB with a queue of each user that grows by its due share of the rounds, CS-UCB-Q (Xia et al.).

    Attributes
    ----------
    queue_weight
        b in [0, 1], the weight of the queue against the speed.
    queue
        (K,) D_k; an empty array, for zeros, before the first round.
    """

    remembered: ClassVar[Mapping[str, Remembered]] = {"queue": Remembered(np.float64, 0)}
    look = Look("CS-UCB-Q", "#5C5C14", "p", LONG_DASH, zorder=2.9, hollow=True)

    def __init__(self, round_latency_max: float, queue_weight: float = 0.1) -> None:
        super().__init__(round_latency_max)
        self.queue_weight = queue_weight
        self.queue = np.zeros(0)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        optimistic = np.minimum(_index(history, self.latency_max, 2.0), 1.0)
        queue = self.queue if len(self.queue) else 0.0
        weight = self.queue_weight
        return _largest((1 - weight) * optimistic + weight * queue, history, rng)

    def join(self, n_users: int) -> None:
        """A new user has an empty queue."""
        if len(self.queue):
            self.queue = np.pad(self.queue, (0, n_users - len(self.queue)))

    def observe(self, feedback: Feedback, history: History) -> None:
        """Add what users are due to their queues, and take off the round if they were selected."""
        due = _DUE_SHARE * history.n_selected * history.data_size / history.data_size.sum()
        taken = np.zeros(len(due))
        taken[feedback.users] = 1.0
        self.queue = np.maximum((self.queue if len(self.queue) else 0.0) + due - taken, 0.0)
