"""PAUSE: the exact maximiser of min ucb + alpha Phi_g + gamma Phi_p (PAUSE v2, eq. 14 and Algorithm 2).

Pivot-and-Fill for rewards that are a sum of scores over the selection. Sort the users by falling ucb and
sweep a pivot down the order: the best selection whose users all have at least the pivot's ucb holds the m
largest scores met so far, which a heap keeps. Sorting dominates: O(K log K) a round.

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
def _replace_smallest(keys: Floats, ids: Users, key: float, user: int) -> None:
    """Replace the root of a min-heap held in two parallel arrays, and sift down."""
    size = keys.shape[0]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[i], ids[i] = keys[child], ids[child]
        i = child
    keys[i], ids[i] = key, user


@njit(cache=True)
def _sweep(bound: Floats, score: Floats, m: int) -> tuple[float, Users]:
    """Best value and selection, users being sorted by falling ``bound``; positions in that order."""
    order = np.argsort(score[:m], kind="mergesort")
    keys, ids = score[:m][order], order.astype(np.int64)  # a sorted array is a heap
    total = keys.sum()
    best_value, best_ids = bound[m - 1] + total, ids.copy()
    for pivot in range(m, bound.shape[0]):
        if score[pivot] > keys[0]:
            total += score[pivot] - keys[0]
            _replace_smallest(keys, ids, score[pivot], pivot)
            value = bound[pivot] + total
            if value > best_value:
                best_value = value
                best_ids[:] = ids
    return best_value, best_ids


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
    order = shuffled[np.argsort(-bound[shuffled], kind="stable")]
    _, chosen = _sweep(bound[order], score[order], m)
    return np.sort(order[chosen])


class Pause:
    """PAUSE with a reward that is a sum of scores, searched exactly (v2, Algorithms 1 and 2)."""

    def __init__(self, reward: AverageReward, exploitation: float) -> None:
        self.reward = reward
        self.exploitation = exploitation
        _sweep(np.zeros(1), np.zeros(1), 1)  # compile, or load what was compiled, before the first round

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        bound = confidence_bound(history, self.exploitation)
        return pivot_and_fill(bound, self.reward.scores(history), history.n_selected, rng)
