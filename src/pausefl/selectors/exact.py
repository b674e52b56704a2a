"""PAUSE: the exact maximiser of min ucb + alpha Phi_g + gamma Phi_p (PAUSE v2, eq. 14 and Algorithm 2).

Pivot-and-Fill for rewards that are a sum of scores over the selection. Sort the users by falling ucb and
sweep a pivot down the order: the best selection whose users all have at least the pivot's ucb holds the m
largest scores met so far, which a heap keeps. Sorting dominates: O(K log K) a round. Ties between pivots, and
between users of equal score above the best pivot, are broken at random.

Users never seen have an infinite index. As long as there are m of them, the maximiser is found among them by
score alone; with fewer, the smallest index of any selection is finite and the sweep is unchanged.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pausefl.history import History
from pausefl.rewards import AverageReward, confidence_bound

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def _totals(score: Floats, m: int) -> Floats:
    """Sum (K - m + 1,) of the m largest scores among the first m, m + 1, ..., K users."""
    totals = np.empty(score.shape[0] - m + 1)
    heap = np.sort(score[:m])  # a sorted array is a min-heap
    totals[0] = heap.sum()
    for i in range(m, score.shape[0]):
        entering, total = score[i], totals[i - m]
        if entering > heap[0]:
            total += entering - heap[0]
            parent, child = 0, 1
            while child < m:
                if child + 1 < m and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= entering:
                    break
                heap[parent] = heap[child]
                parent, child = child, 2 * child + 1
            heap[parent] = entering
        totals[i - m + 1] = total
    return totals


def best_unseen(bound: Floats, score: Floats, m: int, shuffled: Users) -> Users | None:
    """The m unseen users (infinite ``bound``) of largest score, ties in ``shuffled`` order; None if fewer."""
    unseen = shuffled[np.isposinf(bound[shuffled])]
    if len(unseen) < m:
        return None
    return np.sort(unseen[np.argsort(-score[unseen], kind="stable")[:m]])


def pivot_and_fill(bound: Floats, score: Floats, m: int, rng: np.random.Generator) -> Users:
    """Users maximising ``min bound + sum score`` over all selections of m users.

    Parameters
    ----------
    bound
        (K,) speed index of each user, e.g. its ucb; finite or +inf.
    score
        (K,) what each user adds to the value of a selection.
    m
        Size of the selection, 1 <= m <= K.
    rng
        Breaks ties, in a random order of the users.

    Returns
    -------
    (m,) user ids, ascending.
    """
    shuffled = rng.permutation(len(bound))
    unseen = best_unseen(bound, score, m, shuffled)
    if unseen is not None:
        return unseen
    order = np.argsort(-bound)
    value = bound[order[m - 1 :]] + _totals(score[order], m)
    lowest = bound[order[m - 1 + rng.choice(np.flatnonzero(value == value.max()))]]
    pool = shuffled[bound[shuffled] >= lowest]
    return np.sort(pool[np.argsort(-score[pool], kind="stable")[:m]])


class Pause:
    """PAUSE with a reward that is a sum of scores, searched exactly (v2, Algorithms 1 and 2)."""

    def __init__(self, reward: AverageReward, exploitation: float) -> None:
        self.reward = reward
        self.exploitation = exploitation
        _totals(np.zeros(1), 1)  # compile, or load what was compiled, before the first round

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        bound = confidence_bound(history, self.exploitation)
        return pivot_and_fill(bound, self.reward.scores(history), history.n_selected, rng)
