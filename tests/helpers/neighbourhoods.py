"""The papers' graphs of selections, by definition, and slow but obvious annealing on them.

An order lists all users from the least by some criterion upwards; ties have been broken in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracles import worth

from pausefl.selectors.search import Objective

Vertex = frozenset[int]
Order = Sequence[int]
Graph = dict[Vertex, set[Vertex]]


def vertices(n_users: int, m: int) -> list[Vertex]:
    return [frozenset(users) for users in combinations(range(n_users), m)]


def least(order: Order, users: Any) -> int:
    return min(users, key=list(order).index)


def neighbours(members: Vertex, n_users: int, orders: Sequence[Order]) -> set[Vertex]:
    """Those that differ in one user, who is the least of the one or the other selection by some order."""
    found = set()
    for leaving in members:
        for entering in set(range(n_users)) - members:
            other = members - {leaving} | {entering}
            if not orders or any(
                leaving == least(order, members) or entering == least(order, other) for order in orders
            ):
                found.add(other)
    return found


def graph(n_users: int, m: int, orders: Sequence[Order]) -> Graph:
    return {members: neighbours(members, n_users, orders) for members in vertices(n_users, m)}


def moves(orders: Sequence[Order], members: list[int], outsiders: list[int]) -> list[tuple[int, int]]:
    """Which place may be taken by whom.

    Swaps of the least members come first, by place and outsider; then those of the others, by place, for
    outsiders that are less than the members by one order after another.
    """
    if orders:
        lowest = sorted({members.index(least(order, members)) for order in orders})
    else:
        lowest = list(range(len(members)))
    found = [(place, entering) for place in lowest for entering in outsiders]
    for place in set(range(len(members))) - set(lowest):
        for order in orders:
            found += [(place, k) for k in order[: order.index(least(order, members))]]
    return found


def slow_anneal(
    objective: Objective,
    orders: Sequence[Order],
    start: Sequence[int],
    outside: Sequence[int],
    scale: float,
    n_iterations: int,
    rng: np.random.Generator,
) -> tuple[list[int], list[float]]:
    """The best selection and the energy after each iteration; each move counts where it comes first."""
    members, outsiders, energies = list(start), list(outside), []
    best = sorted(members)
    for j in range(1, n_iterations + 1):
        there = moves(orders, members, outsiders)
        number = int(rng.random() * len(there))
        while there.index(there[number]) < number:
            number = int(rng.random() * len(there))
        place, entering = there[number]
        proposal = [*members[:place], entering, *members[place + 1 :]]
        gain = worth(objective, tuple(proposal)) - worth(objective, tuple(members))
        if gain >= 0 or rng.random() <= math.exp(gain / (scale / math.log(1 + j))):
            outsiders[outsiders.index(entering)] = members[place]
            members = proposal
            if worth(objective, tuple(members)) > worth(objective, tuple(best)):
                best = sorted(members)
        energies.append(worth(objective, tuple(members)))
    return best, energies


def distribution(objective: Objective, edges: Graph, scale: float, n_iterations: int) -> NDArray[np.float64]:
    """Probability of each vertex after some iterations from a uniformly drawn one, by matrices."""
    energy = np.array([worth(objective, tuple(v)) for v in edges])
    adjacent = np.array([[u in around for u in edges] for around in edges.values()])
    proposed = adjacent / adjacent.sum(axis=1, keepdims=True)
    worse = np.minimum(energy - energy[:, None], 0.0)  # of a move from the row to the column
    probability = np.full(len(energy), 1 / len(energy))
    for j in range(1, n_iterations + 1):
        moves = proposed * np.exp(worse * np.log(1 + j) / scale)
        probability = probability @ moves + probability * (1 - moves.sum(axis=1))
    return probability
