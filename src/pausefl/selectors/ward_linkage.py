"""Ward's clustering, cut into clusters of a largest weight; ties are those of SciPy's linkage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def ward(distance: Floats) -> tuple[Users, Floats]:
    """Ward's hierarchical clustering by chains of nearest neighbours (Murtagh, The Computer Journal, 1983).

    SciPy's gives the same trees without ties. Users never seen tie, and its order among them would change
    the published selections.

    Parameters
    ----------
    distance
        (n, n), symmetric.

    Returns
    -------
    (n - 1, 2) pairs of clusters that merge, children before parents, each named by one of its points; the
    merged cluster takes the name of the second. And (n - 1,) their heights.
    """
    n = distance.shape[0]
    # Asymmetric to the last bit, chains of neighbours need not end.
    squared = np.maximum(distance, distance.T) ** 2
    size, alive = np.ones(n), np.ones(n, np.bool_)
    merges, heights = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    chain, length = np.empty(n, np.int64), 0
    for step in range(n - 1):
        if length == 0:
            chain[0], length = np.flatnonzero(alive)[0], 1
        while True:
            a = chain[length - 1]
            nearest, least = -1, np.inf
            if length > 1:  # among equals, go back: otherwise the chain might not end
                nearest, least = chain[length - 2], squared[a, chain[length - 2]]
            for k in range(n):
                if alive[k] and k != a and squared[a, k] < least:
                    nearest, least = k, squared[a, k]
            if length > 1 and nearest == chain[length - 2]:
                break
            chain[length] = nearest
            length += 1
        a, b = chain[length - 1], chain[length - 2]
        length -= 2
        merges[step, 0], merges[step, 1], heights[step] = a, b, np.sqrt(squared[a, b])
        between = squared[a, b]
        for k in range(n):
            if alive[k] and k != a and k != b:
                merged = (
                    (size[a] + size[k]) * squared[a, k]
                    + (size[b] + size[k]) * squared[b, k]
                    - size[k] * between
                ) / (size[a] + size[b] + size[k])
                squared[b, k] = squared[k, b] = merged
        alive[a] = False
        size[b] += size[a]
    return merges, heights


@njit(cache=True)
def cut_by_weight(merges: Users, weight: Users, capacity: int) -> Users:
    """Label (n,) of each point's cluster: the largest clusters of a tree of at most ``capacity`` each.

    A point that weighs more is a cluster by itself. Labels are points.
    """
    n = weight.shape[0]
    total, whole, label = weight.copy(), np.ones(n, np.bool_), np.arange(n)
    for step in range(n - 1):
        a, b = merges[step]
        whole[b] = whole[a] and whole[b] and total[a] + total[b] <= capacity
        total[b] += total[a]
        if whole[b]:
            label[label == a] = b
    return label
