"""SA-PAUSE: simulated annealing in place of the exact search (PAUSE v2, Algorithm 3).

Vertices are selections, the energy is the objective (19), and a neighbour differs in one user under the rule
N1, N2 of the paper. Neighbours are drawn without listing them. Sort the users by rising ucb, ties in a
random order, and let a be the rank of the lowest member of a selection. Every member ranks at least a, so the
outsiders below a are exactly ranks 0 .. a - 1. The distinct neighbours are then

- active, K - m of them: a replaced by any outsider (this contains the passive moves N2b);
- passive, (m - 1) a of them: another member replaced by one of the a lowest ranks (N2a),

any of which is reached by one uniform integer. The energy follows from the previous one.
Two misprints of the algorithm are mended (deviations D1, D2): worse vertices are accepted with probability
exp((E(U) - E(V)) / tau), and the best vertex seen is returned.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pausefl.config import SelectionSettings
from pausefl.history import History
from pausefl.rewards import AverageReward, confidence_bound
from pausefl.selectors.exact import best_unseen

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: omega of deviation D4: keeps the temperature positive when all energies are equal.
_OMEGA = 1e-9


@njit(cache=True)
def n_neighbours(n_users: int, m: int, lowest: int) -> int:
    """Degree of a selection whose lowest member has rank ``lowest`` in rising order of ucb."""
    return (n_users - m) + (m - 1) * lowest


@njit(cache=True)
def _anneal(
    bound: Floats, score: Floats, members: Users, outsiders: Users, scale: float, draws: Floats
) -> Users:
    """Best selection met in ``len(draws)`` iterations; users are ranks in rising order of ``bound``.

    ``members`` (m,) and ``outsiders`` (K - m,) are overwritten. ``scale`` is C / kappa, so that iteration
    j >= 1 has temperature ``scale / log(1 + j)``. Each row of ``draws`` (J, 2) holds the uniforms of one
    iteration: which neighbour, and whether it is accepted.
    """
    n_users, m = bound.shape[0], members.shape[0]
    slot = np.empty(n_users, np.int64)
    slot[outsiders] = np.arange(n_users - m)
    low = int(np.argmin(members))
    total = score[members].sum()
    energy = bound[members[low]] + total
    best_energy, best = energy, members.copy()
    for j in range(draws.shape[0]):
        degree = n_neighbours(n_users, m, members[low])
        move = int(draws[j, 0] * degree)
        if move < n_users - m:
            leaving, entering = low, outsiders[move]
        else:
            passive = move - (n_users - m)
            leaving, entering = passive // members[low], passive % members[low]
            if leaving >= low:
                leaving += 1
        new_low, new_lowest = leaving, entering
        for i in range(m):
            if i != leaving and members[i] < new_lowest:
                new_low, new_lowest = i, members[i]
        new_total = total - score[members[leaving]] + score[entering]
        new_energy = bound[new_lowest] + new_total
        temperature = scale / math.log(2.0 + j)
        if new_energy >= energy or draws[j, 1] <= math.exp((new_energy - energy) / temperature):
            outsiders[slot[entering]] = members[leaving]
            slot[members[leaving]] = slot[entering]
            members[leaving] = entering
            low, total, energy = new_low, new_total, new_energy
            if energy > best_energy:
                best_energy = energy
                best[:] = members
    return best


class SaPause:
    """SA-PAUSE (v2, Algorithm 3) with the divided temperature of v2, Section V-D."""

    def __init__(self, reward: AverageReward, settings: SelectionSettings) -> None:
        assert settings.n_iterations is not None
        assert settings.temperature_divisor is not None
        self.reward = reward
        self.exploitation = settings.exploitation
        self.n_iterations = settings.n_iterations
        self.temperature_divisor = settings.temperature_divisor
        pair = np.zeros(2)  # compile, or load what was compiled, before the first round
        _anneal(pair, pair, np.zeros(1, np.int64), np.ones(1, np.int64), 1.0, np.zeros((1, 2)))

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        m = history.n_selected
        bound, score = confidence_bound(history, self.exploitation), self.reward.scores(history)
        shuffled = rng.permutation(len(bound))
        unseen = best_unseen(bound, score, m, shuffled)
        if unseen is not None:
            return unseen
        if m == len(bound):
            return np.arange(m)
        order = shuffled[np.argsort(bound[shuffled], kind="stable")]
        ranks, start = bound[order], rng.permutation(len(bound))
        # C of eq. 20 (deviation D4); the m-th largest index is finite, as fewer than m users are unseen.
        largest_gap = ranks[-m] - ranks[0] + self.reward.range + _OMEGA
        best = _anneal(
            ranks,
            score[order],
            start[:m],
            start[m:],
            largest_gap / self.temperature_divisor,
            rng.random((self.n_iterations, 2)),
        )
        return np.sort(order[best])
