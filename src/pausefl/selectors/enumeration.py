"""The best selection by enumeration of all (PAUSE v2, eq. 14)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def enumerate_selections(
    bound: Floats, score: Floats, cluster: Users, costs: Floats, rng: np.random.Generator
) -> Users:
    """Best of all selections; ties at random."""
    n_users, m = bound.shape[0], costs.shape[0]
    chosen, best = np.arange(m), np.arange(m)
    counts = np.zeros(cluster.max() + 1, np.int64)
    best_value, n_best = -np.inf, 0
    while True:
        lowest, total = np.inf, 0.0
        for k in chosen:
            lowest = min(lowest, bound[k])
            total += score[k] - costs[counts[cluster[k]]]
            counts[cluster[k]] += 1
        for k in chosen:
            counts[cluster[k]] = 0
        value = lowest + total
        if value > best_value:
            best_value, n_best = value, 0
        if value == best_value:
            n_best += 1
            if n_best == 1 or rng.random() * n_best < 1.0:
                best[:] = chosen
        last = m - 1  # the next selection in lexicographic order
        while last >= 0 and chosen[last] == n_users - m + last:
            last -= 1
        if last < 0:
            return best
        chosen[last:] = np.arange(chosen[last] + 1, chosen[last] + 1 + m - last)
