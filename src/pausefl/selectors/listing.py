"""Annealing that lists neighbours, as the papers describe it (PAUSE v2, Algorithm 3; BSFL, Section V).

The annealers of the runs sample a neighbour without listing any (deviation D35). This walk finds who may
leave and who may enter, takes one of all swaps at random, and computes its energy from nothing. It follows
the same law as those annealers, and it says how many neighbours there were.

An active move lets a member leave that is least by some criterion. A passive move lets a user enter who
becomes least. Without criteria every swap is a neighbour.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pausefl.selectors.search import Objective

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


class Walk(NamedTuple):
    """What a walk of j iterations met."""

    #: (j,) after each iteration.
    energies: Floats
    #: (j,) neighbours of the vertex that an iteration starts from.
    n_listed: Users


@njit(cache=True)
def _energy(bound: Floats, score: Floats, cluster: Users, costs: Floats, members: Users) -> float:
    """Value of a selection (`pausefl.selectors.search.Objective`)."""
    counts = np.zeros(cluster.max() + 1 if costs[-1] > 0 else 1, np.int64)
    total, least = 0.0, np.inf
    for k in members:
        total += score[k]
        least = min(least, bound[k])
        if len(counts) > 1:
            total -= costs[counts[cluster[k]]]
            counts[cluster[k]] += 1
    return total + least


@njit(cache=True)
def _neighbours(
    rank: Users, members: Users, outsiders: Users, leavers: Users, below: Users, passive: bool
) -> tuple[int, int]:
    """Who may leave for anyone, and who may enter for anyone.

    Writes the positions of the least members to the start of ``leavers`` (m,), the others behind them, and
    the positions of outsiders who rank below a least member to the start of ``below`` (n - m,); returns how
    many.
    """
    n_lists, m = rank.shape[0], members.shape[0]
    least = np.empty(n_lists, np.int64)
    is_least = np.full(m, n_lists == 0)
    for i in range(n_lists):
        place = 0
        for j in range(1, m):
            if rank[i, members[j]] < rank[i, members[place]]:
                place = j
        least[i] = rank[i, members[place]]
        is_least[place] = True
    n_least, place = int(is_least.sum()), 0
    for wanted in (True, False):
        for j in range(m):
            if is_least[j] == wanted:
                leavers[place] = j
                place += 1
    n_below = 0
    if passive and n_least < m:
        for j in range(outsiders.shape[0]):
            for i in range(n_lists):
                if rank[i, outsiders[j]] < least[i]:
                    below[n_below] = j
                    n_below += 1
                    break
    return n_least, n_below


@njit(cache=True)
def _list(
    swaps: NDArray[np.int32], leavers: Users, below: Users, n_least: int, n_below: int, n_outsiders: int
) -> None:
    """Write all swaps (n, 2), positions of who leaves and who enters."""
    place = 0
    for leaving in leavers[:n_least]:
        for entering in range(n_outsiders):
            swaps[place, 0], swaps[place, 1] = leaving, entering
            place += 1
    for leaving in leavers[n_least:]:
        for entering in below[:n_below]:
            swaps[place, 0], swaps[place, 1] = leaving, entering
            place += 1


@njit(cache=True)
def _walk(
    rank: Users,
    bound: Floats,
    score: Floats,
    cluster: Users,
    costs: Floats,
    members: Users,
    outsiders: Users,
    scale: float,
    passive: bool,
    listing: bool,
    rng: np.random.Generator,
    energies: Floats,
    n_listed: Users,
) -> None:
    """Fill ``energies`` and ``n_listed`` (j,)."""
    m, n_outsiders = members.shape[0], outsiders.shape[0]
    leavers, below = np.empty(m, np.int64), np.empty(n_outsiders, np.int64)
    swaps, moved, n_least, n_below = np.empty((0, 2), np.int32), True, 0, 0
    energy = _energy(bound, score, cluster, costs, members)
    for j in range(energies.shape[0]):
        if moved or listing:
            n_least, n_below = _neighbours(rank, members, outsiders, leavers, below, passive)
        active = n_least * n_outsiders
        n_listed[j] = active + (m - n_least) * n_below
        if listing:
            if n_listed[j] > swaps.shape[0]:
                swaps = np.empty((n_listed[j], 2), np.int32)
            _list(swaps, leavers, below, n_least, n_below, n_outsiders)
        move = int(rng.random() * n_listed[j])
        if listing:
            leaving, entering = int(swaps[move, 0]), int(swaps[move, 1])
        elif move < active:
            leaving, entering = leavers[move // n_outsiders], move % n_outsiders
        else:
            leaving = leavers[n_least + (move - active) // n_below]
            entering = below[(move - active) % n_below]
        members[leaving], outsiders[entering] = outsiders[entering], members[leaving]
        proposed = _energy(bound, score, cluster, costs, members)
        gain = proposed - energy
        moved = gain >= 0 or rng.random() <= math.exp(gain * math.log(2.0 + j) / scale)
        if moved:
            energy = proposed
        else:
            members[leaving], outsiders[entering] = outsiders[entering], members[leaving]
        energies[j] = energy


def walk(
    objective: Objective,
    criteria: tuple[Floats, ...],
    scale: float,
    n_iterations: int,
    rng: np.random.Generator,
    passive: bool = True,
    listing: bool = False,
) -> Walk:
    """Anneal from a random selection of n users; the temperature of iteration j is ``scale / ln(1 + j)``.

    A swapped user must be least by one of the ``criteria`` (n,); none admits every swap. Without ``passive``
    moves, it is the one who leaves. ``listing`` writes all neighbours down, 8 bytes each, in place of
    counting them; the walk is the same. ``rng`` breaks ties of the criteria, and samples the start and all
    moves.
    """
    n_users, m = len(objective.bound), objective.n_selected
    shuffled, start = rng.permutation(n_users), rng.permutation(n_users)
    values = np.reshape(criteria, (len(criteria), n_users))[:, shuffled]
    order = shuffled[np.argsort(values, axis=1, kind="stable")]
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(n_users)[None], axis=1)
    of_users = objective.bound, objective.score, objective.cluster, objective.costs
    found = Walk(np.empty(n_iterations), np.empty(n_iterations, np.int64))
    _walk(rank, *of_users, start[:m], start[m:], scale, passive, listing, rng, *found)
    return found
