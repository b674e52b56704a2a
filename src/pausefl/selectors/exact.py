"""The exact search of PAUSE, BSFL and the genie (PAUSE v2, eqs. 10, 14, Algorithm 2; BSFL, eqs. 6, 13).

Pivot-and-Fill. Sort the users by falling bound and sweep a pivot down the order: the best selection whose
users all have at least the pivot's bound holds the m largest scores met so far. Sorting dominates:
O(K log K).

The papers call rewards that depend on more than a sum of scores infeasible. A penalty that is convex in the
number of selected users of a cluster, as R2's is, costs no more (ours, deviation D52). The j-th best selected
user of a cluster adds its score less the j-th cost, which falls with j, so the best selection changes by at
most one exchange when a user enters the pool. The entering user replaces either the last of its own cluster,
or the user of another cluster whose score less cost is least. Heaps inside the clusters and a tournament
among the clusters find both in O(log K).

Ties between pivots, and between users whose exchange changes nothing, are broken at random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit
from pausefl.selectors.search import Objective

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def _push(heap: Floats, size: int, value: float) -> None:
    """Add a value to a min-heap of ``size`` values."""
    child = size
    while child > 0 and value < heap[(child - 1) // 2]:
        heap[child] = heap[(child - 1) // 2]
        child = (child - 1) // 2
    heap[child] = value


@njit(cache=True)
def _replace_least(heap: Floats, size: int, value: float) -> None:
    """Put a value in place of the least of a min-heap of ``size`` values."""
    parent, child = 0, 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[parent] = heap[child]
        parent, child = child, 2 * child + 1
    heap[parent] = value


@njit(cache=True)
def _heap_bounds(cluster: Users, m: int) -> Users:
    """Start and end, in one array, of the heap of each cluster: of its users, but at most m."""
    capacity = np.zeros(cluster.max() + 2, np.int64)
    for r in cluster:
        capacity[r + 1] += 1
    return np.cumsum(np.minimum(capacity, m))


@njit(cache=True)
def _tournament(n_clusters: int) -> Users:
    """A tree of winners among clusters of equal worth: children of node i are 2 i and 2 i + 1."""
    winner = np.empty(2 * n_clusters, np.int64)
    winner[n_clusters:] = np.arange(n_clusters)
    for i in range(n_clusters - 1, 0, -1):
        winner[i] = winner[2 * i]
    return winner


@njit(cache=True)
def _replay(winner: Users, worth: Floats, cluster: int) -> None:
    """Bring a tournament up to date after the worth of a cluster changed; the least worth wins."""
    node = (worth.shape[0] + cluster) >> 1
    while node > 0:
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = left if worth[left] <= worth[right] else right
        node >>= 1


@njit(cache=True)
def _least_other(winner: Users, worth: Floats, cluster: int) -> int:
    """The cluster of least worth but for one; -1 if there is no other."""
    other, node = -1, worth.shape[0] + cluster
    while node > 1:
        rival = winner[node ^ 1]
        if other < 0 or worth[rival] < worth[other]:
            other = rival
        node >>= 1
    return other


@njit(cache=True)
def _sweep(score: Floats, cluster: Users, costs: Floats) -> tuple[Floats, Floats]:
    """Best selections of m among the first m, m + 1, ..., K users.

    Returns
    -------
    (K - m + 1,) sums of score less cost, and (K - m + 1,) the least score less cost of a selected user.
    """
    n_users, m, n_clusters = score.shape[0], costs.shape[0], cluster.max() + 1
    # Heaps of the selected scores of each cluster, and what the last selected user of a cluster adds.
    start = _heap_bounds(cluster, m)
    heaps, size = np.empty(start[-1]), np.zeros(n_clusters, np.int64)
    worth, winner = np.full(n_clusters, np.inf), _tournament(n_clusters)
    totals, least = np.empty(n_users - m + 1), np.empty(n_users - m + 1)
    total = 0.0
    for i in range(n_users):
        entering, into = score[i], cluster[i]
        heap = heaps[start[into] : start[into + 1]]
        leaves = into
        if i < m:
            total += entering - costs[size[into]]
            _push(heap, size[into], entering)
            size[into] += 1
        else:
            gain_own = entering - heap[0] if size[into] > 0 else -np.inf
            other, gain_other = _least_other(winner, worth, into), -np.inf
            if other >= 0 and worth[other] < np.inf:
                gain_other = entering - costs[size[into]] - worth[other]
            if max(gain_own, gain_other) <= 0.0:
                totals[i - m + 1], least[i - m + 1] = total, least[i - m]
                continue
            if gain_own >= gain_other:
                total += gain_own
                _replace_least(heap, size[into], entering)
            else:
                total += gain_other
                leaves = other
                size[leaves] -= 1
                theirs = heaps[start[leaves] : start[leaves + 1]]
                _replace_least(theirs, size[leaves], theirs[size[leaves]])
                _push(heap, size[into], entering)
                size[into] += 1
        for changed in (into, leaves):
            worth[changed] = heaps[start[changed]] - costs[size[changed] - 1] if size[changed] > 0 else np.inf
            _replay(winner, worth, changed)
        if i >= m - 1:
            totals[i - m + 1], least[i - m + 1] = total, worth[winner[1]]
    return totals, least


def pivot_and_fill(objective: Objective, rng: np.random.Generator) -> Users:
    """A maximiser of an objective whose penalty is convex, ties at random.

    Parameters
    ----------
    objective
        Of n >= m users, of which fewer than m have an infinite bound.
    rng
        Breaks ties.

    Returns
    -------
    (m,) users, in no order.
    """
    bound, m = objective.bound, objective.n_selected
    order = np.argsort(-bound)
    totals, least = _sweep(objective.score[order], objective.cluster[order], objective.costs)
    lowest = bound[order[m - 1 :]]
    values = lowest + totals
    best = np.flatnonzero(values == values.max())
    if len(best) > 1:  # users of one bound are one pivot
        best = best[lowest[best] == rng.choice(np.unique(lowest[best]))]
    pivot = best[-1]
    # Nobody who adds less than the last selected user can be among the best selection.
    pool = (bound >= lowest[pivot]) & (objective.score - objective.costs[0] >= least[pivot])
    return objective.fill(np.flatnonzero(pool), rng)
