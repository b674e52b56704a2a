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
from numpy.typing import NDArray

from pausefl.compiling import njit
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
def _neighbours(rank: Users, members: Users, outsiders: Users, passive: bool) -> tuple[Users, int, Users]:
    """Who may leave, and who may enter for anyone.

    Positions of the members (m,), first of those who may leave for anyone as they are least, and how many
    these are; and positions of the outsiders who rank below a least member.
    """
    n_lists, m = rank.shape[0], members.shape[0]
    is_least, is_below = np.full(m, n_lists == 0), np.zeros(outsiders.shape[0], np.bool_)
    for i in range(n_lists):
        ranks = rank[i][members]
        is_least[np.argmin(ranks)] = True
        is_below |= rank[i][outsiders] < ranks.min()
    n_least = int(is_least.sum())
    leavers = np.concatenate((np.flatnonzero(is_least), np.flatnonzero(~is_least)))
    return leavers, n_least, np.flatnonzero(is_below & (passive and n_least < m))


@njit(cache=True)
def _list(swaps: NDArray[np.int32], leavers: Users, n_least: int, below: Users, n_outsiders: int) -> None:
    """Write all swaps (n, 2), positions of who leaves and who enters."""
    place = 0
    for i, leaving in enumerate(leavers):
        for j in range(n_outsiders if i < n_least else below.shape[0]):
            swaps[place, 0], swaps[place, 1] = leaving, j if i < n_least else below[j]
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
    leavers, n_least, below = _neighbours(rank, members, outsiders, passive)
    swaps, moved = np.empty((0, 2), np.int32), False
    energy = _energy(bound, score, cluster, costs, members)
    for j in range(energies.shape[0]):
        if (moved or listing) and rank.shape[0] > 0:
            leavers, n_least, below = _neighbours(rank, members, outsiders, passive)
        active, n_below = n_least * n_outsiders, below.shape[0]
        n_listed[j] = active + (m - n_least) * n_below
        if listing:
            if n_listed[j] > swaps.shape[0]:
                swaps = np.empty((n_listed[j], 2), np.int32)
            _list(swaps, leavers, n_least, below, n_outsiders)
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
