"""The papers' searches in plain Python, line by line.

`searches.py` compares their times with the library's; the tests compare their results.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from itertools import combinations

Value = Callable[[Sequence[int]], float]


def objective(bound: Sequence[float], score: Sequence[float], cluster: Sequence[int], cost: float) -> Value:
    """Value of a selection under R1, and under R2 where ``cost`` = alpha rho is not 0 (v2, eqs. 14, 22)."""

    def value(selection: Sequence[int]) -> float:
        overlaps = len(selection) - len({cluster[k] for k in selection})
        return min(bound[k] for k in selection) + sum(score[k] for k in selection) - cost * overlaps

    return value


def enumerate_selections(value: Value, n_users: int, m: int) -> tuple[int, ...]:
    """The maximiser of eq. 14 (v2), among all selections."""
    return max(combinations(range(n_users), m), key=value)


def neighbours(members: set[int], bound: Sequence[float]) -> list[frozenset[int]]:
    """Rules N1, N2a and N2b of v2, Section IV-A, listed."""
    outsiders = [k for k in range(len(bound)) if k not in members]
    a, *rest = sorted(members, key=lambda k: bound[k])
    found = {frozenset(members - {a} | {k}) for k in outsiders}
    for leaving in rest:
        found |= {frozenset(members - {leaving} | {k}) for k in outsiders if bound[k] < bound[a]}
    if rest:
        found |= {frozenset(members - {a} | {k}) for k in outsiders if bound[k] < bound[rest[0]]}
    return list(found)


def sa_pause(
    value: Value, bound: Sequence[float], m: int, n_iterations: int, scale: float, rng: random.Random
) -> set[int]:
    """Algorithm 3 of v2, with deviations D1 and D2; the temperature of iteration j is scale / log(1 + j)."""
    current = frozenset(rng.sample(range(len(bound)), m))
    energy = value(list(current))
    best, best_energy = current, energy
    for j in range(1, n_iterations + 1):
        proposal = rng.choice(neighbours(set(current), bound))
        proposed = value(list(proposal))
        if proposed >= energy or rng.random() <= math.exp((proposed - energy) * math.log(1 + j) / scale):
            current, energy = proposal, proposed
            if energy > best_energy:
                best, best_energy = current, energy
    return set(best)
