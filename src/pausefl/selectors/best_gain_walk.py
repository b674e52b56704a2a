"""The walk of `pausefl.selectors.best_gain`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def _log_sum(logits: Floats) -> float:
    """Logarithm of the sum of the exponentials; minus infinity if all are."""
    largest = float(logits.max())
    if largest == -np.inf:
        return -np.inf
    return largest + math.log(np.exp(logits - largest).sum())


@njit(cache=True)
def _draw(logits: Floats, rng: np.random.Generator) -> int:
    """An index, with a probability in proportion to the exponential."""
    weights = np.exp(logits - logits.max())
    end = np.cumsum(weights)
    drawn = int(np.searchsorted(end, rng.random() * end[-1], side="right"))
    return min(drawn, len(logits) - 1)  # the product can be rounded up to the end


@njit(cache=True)
def _energy(members: Users, bound: Floats, score: Floats, cluster: Users, costs: Floats) -> float:
    """Least bound and scores of a selection, less its penalty."""
    counts = np.zeros(cluster.max() + 1, np.int64)
    total = float(bound[members].min())
    for k in members:
        total += score[k] - costs[counts[cluster[k]]]
        counts[cluster[k]] += 1
    return total


@njit(cache=True)
def _propose(
    bound: Floats,
    score: Floats,
    rank: Users,
    members: Users,
    outsiders: Users,
    softness: float,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """A neighbour by its gain: the positions of the member that leaves and of the outsider that enters.

    ``rank`` (n,) is each user's place in rising order of the bound. Any outsider may enter for the least
    member, and one that ranks below it for any other.
    """
    least = int(np.argmin(rank[members]))
    fall = np.minimum(bound[outsiders] - bound[members[least]], 0.0)
    entering = (score[outsiders] + fall) / softness
    lower = np.where(rank[outsiders] < rank[members[least]], entering, -np.inf)
    leaving = _log_sum(lower) - score[members] / softness
    leaving[least] = _log_sum(entering) - score[members[least]] / softness
    left = _draw(leaving, rng)
    return left, _draw(entering if left == least else lower, rng)


@njit(cache=True)
def anneal(
    bound: Floats,
    score: Floats,
    cluster: Users,
    costs: Floats,
    rank: Users,
    members: Users,
    outsiders: Users,
    scale: float,
    small: float,
    softness: float,
    n_iterations: int,
    rng: np.random.Generator,
) -> Users:
    """Best selection (m,) that an iteration improved to; ``members`` and ``outsiders`` are overwritten.

    ``scale`` is C / kappa, ``small`` the least rise that is always accepted, ``rank`` as in `_propose`.
    """
    energy = _energy(members, bound, score, cluster, costs)
    best_energy, best = -np.inf, members.copy()
    for i in range(n_iterations):
        leaving, entering = _propose(bound, score, rank, members, outsiders, softness, rng)
        members[leaving], outsiders[entering] = outsiders[entering], members[leaving]
        new_energy = _energy(members, bound, score, cluster, costs)
        difference = new_energy - energy
        if difference >= small:
            accepted = True
            if new_energy > best_energy:
                best_energy = new_energy
                best[:] = members
        elif difference > 0:
            accepted = rng.random() < 0.5
        else:
            accepted = rng.random() < math.exp(difference * math.log(1.0 + i) / scale)
        if accepted:
            energy = new_energy
        else:
            members[leaving], outsiders[entering] = outsiders[entering], members[leaving]
    return best
