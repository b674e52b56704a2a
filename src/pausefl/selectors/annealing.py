"""Simulated annealing in place of the exact search (PAUSE v2, Algorithm 3; v1, Algorithm 2; BSFL, Section V).

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
from typing import ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import AverageReward, Reward, penalty_range
from pausefl.errors import ConfigError
from pausefl.selectors.search import Objective, Search

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: omega of deviation D4: keeps the temperature positive when all energies are equal.
_OMEGA = 1e-9


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
def _anneal(
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


class Annealer(Search):
    """Annealing on the graph, and from the temperature, that a subclass defines.

    Attributes
    ----------
    graph
        Criteria by one of which a neighbour must be least, out of ``ucb``, ``p`` and ``g``; none admits every
        swap.
    n_iterations
        J.
    temperature_divisor
        kappa: the temperature of iteration j is C / (kappa log(1 + j)) (v2, Section V-D).

    Raises
    ------
    ConfigError
        If ``g`` is among the criteria, and the reward has no g_k.
    """

    graph: ClassVar[tuple[str, ...]] = ()
    constants = ("n_iterations", "temperature_divisor")

    def __init__(
        self, reward: Reward, exploitation: float, n_iterations: int, temperature_divisor: float
    ) -> None:
        super().__init__(reward, exploitation)
        if "g" in self.graph and not isinstance(reward, AverageReward):
            raise ConfigError(
                f"{type(self).__name__} sorts users by g_k, which {type(reward).__name__} lacks: derive the"
                " reward from AverageReward, or use another selector"
            )
        self.n_iterations = n_iterations
        self.temperature_divisor = temperature_divisor
        # Compile, or load what was compiled, before the first round.
        pair = Objective(np.zeros(2), np.zeros(2), np.zeros(2, np.int64), np.zeros(1))
        history = History.empty(np.ones(2, np.int64), 1, 1.0)
        self.anneal(pair, history, np.arange(2), np.random.default_rng(0), n_iterations=1)

    def criteria(self, objective: Objective, history: History, users: Users) -> tuple[Floats, ...]:
        """Values (n,) of the users by each criterion of the graph."""
        values = {"ucb": objective.bound, "p": history.privacy[users]}
        if "g" in self.graph:
            assert isinstance(self.reward, AverageReward)
            values["g"] = self.reward.generalization(history)[users]
        return tuple(values[name] for name in self.graph)

    def largest_gap(self, objective: Objective, history: History, users: Users) -> float:
        """C (v2, eq. 20, deviation D4): no two energies differ by more if nobody has over 1/m of the data."""
        # The m-th largest index is finite, as fewer than m users are unseen.
        m, bound = objective.n_selected, np.sort(objective.bound)
        return float(bound[-m] - bound[0] + self.reward.range(m) + _OMEGA)

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Anneal from a random selection."""
        return self.anneal(objective, history, users, rng)

    def anneal(
        self,
        objective: Objective,
        history: History,
        users: Users,
        rng: np.random.Generator,
        n_iterations: int | None = None,
        energies: Floats | None = None,
    ) -> Users:
        """Best of the selections met.

        Parameters
        ----------
        objective, history, users
            As in `search`.
        rng
            Samples the start, the neighbours and what is accepted.
        n_iterations
            J; the selector's own by default.
        energies
            (J,) filled with the energy after each iteration, if given.

        Returns
        -------
        (m,) users, in no order.
        """
        n_users, m = len(objective.bound), objective.n_selected
        shuffled, start = rng.permutation(n_users), rng.permutation(n_users)
        lists = np.stack([objective.bound, *self.criteria(objective, history, users)])
        order = shuffled[np.argsort(lists[:, shuffled], axis=1, kind="stable")]
        return np.asarray(
            _anneal(
                order[0],
                order[1:],
                objective.bound,
                objective.score,
                objective.cluster,
                objective.costs,
                start[:m],
                start[m:],
                self.largest_gap(objective, history, users) / self.temperature_divisor,
                self.n_iterations if n_iterations is None else n_iterations,
                rng,
                np.empty(0) if energies is None else energies,
            )
        )


class SaPause(Annealer):
    """SA-PAUSE on the graph of the ucb alone (v2, Algorithm 3)."""

    graph = ("ucb",)


class SaPauseV1(Annealer):
    """SA-PAUSE of the first version, on the graph of ucb, p and g (v1, Algorithm 2)."""

    graph = ("ucb", "p", "g")

    def largest_gap(self, objective: Objective, history: History, users: Users) -> float:
        """C from the m largest and the m least of each list (v1, eq. 19), and the largest penalty."""
        assert isinstance(self.reward, AverageReward)
        m = objective.n_selected
        bound, p, g = (np.sort(values) for values in self.criteria(objective, history, users))
        return float(
            bound[-m]
            - bound[0]
            + self.reward.alpha * (g[-m:].mean() - g[:m].mean())
            + self.reward.gamma * (p[-m:].mean() - p[:m].mean())
            + penalty_range(objective.costs)
            + _OMEGA
        )


class SaVanilla(Annealer):
    """Plain annealing: every swap is a neighbour, m (K - m) of them (v2, Section IV-B)."""

    def largest_gap(self, objective: Objective, history: History, users: Users) -> float:
        """C = 2 alpha + gamma + 1 (v2, Section IV-B), and the largest penalty."""
        return self.reward.range(objective.n_selected) + 1.0


class Alsa(Annealer):
    """ALSA: BSFL's objective on the graph of ucb and g (BSFL, eqs. 17, 19)."""

    graph = ("ucb", "g")
    with_privacy = False


class SaBsfl(Annealer):
    """Plain annealing of BSFL's objective (BSFL, eqs. 17, 18)."""

    with_privacy = False
