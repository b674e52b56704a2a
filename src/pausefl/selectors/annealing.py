"""The walk of simulated annealing (PAUSE v2, Algorithm 3; v1, Algorithm 2; BSFL, Section V).

Vertices are selections, the energy is the objective (v2, eq. 19), and neighbours differ in one user. Plain
annealing admits every swap. The papers' graphs are thinner: one of the two users must be least in its
selection by some criterion, the ucb alone (SA-PAUSE), ucb or g (ALSA), or ucb, p or g (SA-PAUSE v1).

Neighbours are sampled uniformly without listing them. Sort the users once by each criterion, ties in one
random order, and let a_i be the member of a selection that is least by criterion i. No member ranks below
a_i, so the outsiders that do are a prefix of list i. A swap of x for y is a neighbour if and only if

- x is one of the a_i (active; this contains the passive moves of the papers' rule N2b), or
- y ranks below a_i in some list i (passive, rule N2a).

Number the swaps of the first kind, and for each list those of the second whose x is none of the a_i. Sample
a number, and sample again if its y ranks below a_j in an earlier list j too. Every neighbour is then equally
likely, at a cost of O(1). The energy follows from the previous one. When the least member leaves, the next
one is found in O(min(m, n / m)) on average.

Two misprints are corrected (deviations D1, D2): worse vertices are accepted with probability
exp((E(U) - E(V)) / tau), and the best vertex seen is returned.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pausefl.compiling import njit

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Users = NDArray[np.int64]


@njit(cache=True)
def _ranks(order: Users) -> Users:
    """The inverse (L, n) of lists ``order`` (L, n) of users."""
    rank = np.empty_like(order)
    for i in range(order.shape[0]):
        rank[i, order[i]] = np.arange(order.shape[1])
    return rank


@njit(cache=True)
def _places(members: Users, outsiders: Users) -> tuple[Users, Bools]:
    """Position (n,) of each user among the members or the outsiders, and whether it is a member."""
    n_users = members.shape[0] + outsiders.shape[0]
    place, is_member = np.empty(n_users, np.int64), np.zeros(n_users, np.bool_)
    place[members], place[outsiders] = np.arange(members.shape[0]), np.arange(outsiders.shape[0])
    is_member[members] = True
    return place, is_member


@njit(cache=True)
def _worth(members: Users, score: Floats, cluster: Users, costs: Floats) -> tuple[float, Users]:
    """Scores less penalty of a selection, and its users in each cluster."""
    counts = np.zeros(cluster.max() + 1, np.int64)
    total = 0.0
    for k in members:
        total += score[k] - costs[counts[cluster[k]]]
        counts[cluster[k]] += 1
    return total, counts


@njit(cache=True)
def _following(rank: Users, order: Users, members: Users, place: Users, is_member: Bools, low: int) -> int:
    """Position of the least member but for the one at ``low``, which is the least; -1 if there is none.

    Searches the members, or up the list where that is shorter.
    """
    n_users, m = order.shape[0], members.shape[0]
    if m == 1:
        return -1
    if m * m > n_users:
        i = rank[members[low]] + 1
        while not is_member[order[i]]:
            i += 1
        return int(place[order[i]])
    following = 1 if low == 0 else 0
    for i in range(following + 1, m):
        if i != low and rank[members[i]] < rank[members[following]]:
            following = i
    return following


@njit(cache=True)
def _swap(
    members: Users, outsiders: Users, place: Users, is_member: Bools, leaving: int, entering: int
) -> None:
    """Let the user ``entering`` take the place of the member at the position ``leaving``."""
    leaver = members[leaving]
    members[leaving], outsiders[place[entering]] = entering, leaver
    place[leaver], place[entering] = place[entering], leaving
    is_member[leaver], is_member[entering] = False, True


@njit(cache=True)
def _distinct(values: Users, into: Users) -> int:
    """Write the distinct values in ascending order to the start of ``into``; returns their number."""
    size = 0
    for value in values:
        place = 0
        while place < size and into[place] < value:
            place += 1
        if place < size and into[place] == value:
            continue
        into[place + 1 : size + 1] = into[place:size].copy()
        into[place] = value
        size += 1
    return size


@njit(cache=True)
def _sample_swap(
    order: Users,
    rank: Users,
    members: Users,
    outsiders: Users,
    low: Users,
    least: Users,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """A uniform neighbour: the position in ``members`` that is swapped, and the user who enters.

    ``order`` and ``rank`` (L, n) are the users in rising order of each criterion and the inverse. ``low``
    (L,) holds the positions of the least members, ``least`` the distinct ones, ascending. Without criteria
    (L = 0) every swap is a neighbour.
    """
    n_lists, n_outsiders = low.shape[0], outsiders.shape[0]
    if n_lists == 0:
        move = int(rng.random() * (members.shape[0] * n_outsiders))
        return move // n_outsiders, outsiders[move % n_outsiders]
    below = 0
    for i in range(n_lists):
        below += rank[i, members[low[i]]]
    active = least.shape[0] * n_outsiders
    n_swaps = active + (members.shape[0] - least.shape[0]) * below
    while True:
        move = int(rng.random() * n_swaps)
        if move < active:
            return least[move // n_outsiders], outsiders[move % n_outsiders]
        leaving, place = (move - active) // below, (move - active) % below
        for position in least:  # ascending, so that counting skips all
            if leaving >= position:
                leaving += 1
        which = 0
        while place >= rank[which, members[low[which]]]:
            place -= rank[which, members[low[which]]]
            which += 1
        entering = order[which, place]
        counted = False
        for i in range(which):
            counted |= rank[i, entering] < rank[i, members[low[i]]]
        if not counted:
            return leaving, entering


@njit(cache=True)
def anneal(
    bound_order: Users,
    order: Users,
    bound: Floats,
    score: Floats,
    cluster: Users,
    costs: Floats,
    members: Users,
    outsiders: Users,
    scale: float,
    n_iterations: int,
    rng: np.random.Generator,
    energies: Floats,
) -> Users:
    """Best selection met in ``n_iterations`` iterations.

    ``bound_order`` (n,) and ``order`` (L, n) are the users in rising order of the bound and of each
    criterion. ``members`` (m,) and ``outsiders`` (n - m,) are overwritten. ``scale`` is C / kappa, so that
    iteration j >= 1 has temperature ``scale / log(1 + j)``. ``energies``, unless empty, is filled with the
    energy after each iteration.
    """
    n_lists = order.shape[0]
    rank, bound_rank = _ranks(order), _ranks(bound_order.reshape(1, -1))[0]
    place, is_member = _places(members, outsiders)
    low, least = np.empty(n_lists, np.int64), np.empty(n_lists, np.int64)
    for i in range(n_lists):
        low[i] = np.argmin(rank[i][members])
    n_least = _distinct(low, least)
    slowest = int(np.argmin(bound_rank[members]))
    total, counts = _worth(members, score, cluster, costs)
    energy = bound[members[slowest]] + total
    best_energy, best = energy, members.copy()
    for j in range(n_iterations):
        leaving, entering = _sample_swap(order, rank, members, outsiders, low, least[:n_least], rng)
        leaver = members[leaving]
        new_slowest = slowest
        if leaving == slowest:
            new_slowest = _following(bound_rank, bound_order, members, place, is_member, slowest)
        if new_slowest < 0 or bound_rank[entering] < bound_rank[members[new_slowest]]:
            new_slowest = leaving
        new_total = total - score[leaver] + score[entering]
        if cluster[leaver] != cluster[entering]:
            new_total += costs[counts[cluster[leaver]] - 1] - costs[counts[cluster[entering]]]
        new_energy = new_total + bound[entering if new_slowest == leaving else members[new_slowest]]
        gain = new_energy - energy
        if gain >= 0 or rng.random() <= math.exp(gain * math.log(2.0 + j) / scale):
            for i in range(n_lists):
                if leaving == low[i]:
                    low[i] = _following(rank[i], order[i], members, place, is_member, low[i])
                if low[i] < 0 or rank[i, entering] < rank[i, members[low[i]]]:
                    low[i] = leaving
            n_least = _distinct(low, least)
            _swap(members, outsiders, place, is_member, leaving, entering)
            counts[cluster[leaver]] -= 1
            counts[cluster[entering]] += 1
            slowest, total, energy = new_slowest, new_total, new_energy
            if energy > best_energy:
                best_energy = energy
                best[:] = members
        if energies.shape[0] > 0:
            energies[j] = energy
    return best
