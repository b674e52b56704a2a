"""Kinds of claim tests on random instances: the exact search against enumeration, and the limit of annealing.

The limit. On a small graph the distribution of annealing's state after j iterations can be computed: the
chain proposes a uniformly random neighbour and accepts a worse one with probability (1 + j)^(-loss / C). C is
the largest difference of energies, the smallest value that the theorems allow (PAUSE v2, Theorem 4; BSFL,
Theorem 2). The probability of a maximiser approaches 1 as a power of j, whose exponent is the lead of the
maximiser as a share of C. From `EXACT` iterations on, the chain is therefore computed in blocks: j grows by a
factor e^`BLOCK`, and the temperature stays constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np

from pausefl.bandit.history import History
from pausefl.bandit.rewards import confidence_bound, make_reward
from pausefl.claims.base import RUN, AtLeast, ClaimTest
from pausefl.claims.comparisons import Comparison
from pausefl.claims.records import Records
from pausefl.claims.statistics import FAILS, HOLDS, UNDECIDED, Floats
from pausefl.registry import REWARDS
from pausefl.registry.selectors import LABELS
from pausefl.settings import RewardSettings
from pausefl.settings.types import Count, Distinct, OneOf
from pausefl.streams import Streams

#: Largest number of users of an enumerated instance.
MOST_USERS = 14

#: Values that differ by at most this are equal.
TIE = 1e-9

#: Users and selected users of the graphs of annealing.
GRAPH = (5, 2)

#: Iterations computed one by one, and growth of ln j in each block after them.
EXACT, BLOCK = 100, 0.5

#: The distribution is examined after 10^d iterations.
DECADES = (1, 10, 100)

#: Least probability of a maximiser after the last of them.
HELD = 0.99


class OnInstances(ClaimTest):
    """A test that makes its instances itself, and is part of a claim at every scale; it has one reading."""

    n_instances: Count
    """How many instances are sampled."""

    def applies(self, group: str) -> bool:
        """Whether the test is part of its claim on a group of scenarios."""
        return group != RUN


class Exactness(OnInstances):
    """Exact search and enumeration find equal values on random histories, of up to 14 users."""

    kind: Literal["exactness"]
    rewards: Distinct[Annotated[str, OneOf(REWARDS)]]
    """Rewards that are searched."""

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Compare the search with enumeration under each reward."""
        for name in self.rewards:
            selector = "pause" if REWARDS.find(name).has_privacy_term else "bsfl"
            gaps = [shortfall(name, selector, seed) for seed in range(self.n_instances)]
            n_exact = sum(gap <= TIE for gap in gaps)
            text = f"{LABELS[selector]} against enumeration, reward {name.upper()}"
            note = f"largest gap of {len(gaps)} instances of up to {MOST_USERS} users; {n_exact} are exact"
            asked = Comparison(self.kind, "", text, "", f"difference ≤ {TIE:g}")
            yield asked.settled(n_exact == len(gaps), max(gaps), measure="largest loss of reward", note=note)


def shortfall(reward_name: str, selector: str, seed: int) -> float:
    """Difference in reward between an exact search and enumeration on one random history."""
    from pausefl.selectors.brute import BrutePause
    from pausefl.selectors.exact import Bsfl, Pause

    exact = {"pause": Pause, "bsfl": Bsfl}[selector]
    weights: dict[str, Any] = {
        "alpha": 4.0,
        "beta": 2.0,
        "gamma": 3.0,
        "overlap_penalty": 0.2,
        "overlap_latency": 0.05,
    }
    reward = make_reward(RewardSettings(name=reward_name, n_clusters=4, **weights))
    rng = Streams(seed).generator(f"claims/{reward_name}")
    history = random_history(rng)
    bound = confidence_bound(history, 1.0)
    selections = [search(reward, 1.0)(history, rng) for search in (BrutePause, exact)]
    best, found = (reward.value(history, users, bound[users]) for users in selections)
    return abs(best - found)


def random_history(rng: np.random.Generator) -> History:
    """A history of 3 .. `MOST_USERS` users in up to four clusters; each has participated."""
    n_users = int(rng.integers(3, MOST_USERS + 1))
    m = int(rng.integers(1, n_users))
    quality, cluster = rng.uniform(0.2, 1, n_users), rng.integers(4, size=n_users)
    history = History.empty(rng.integers(50, 500, n_users), m, 0.05, quality, cluster)
    history.round = int(rng.integers(20, 300))
    history.participations = rng.integers(1, history.round, n_users)
    history.mean_speed = rng.random(n_users)
    history.privacy = rng.random(n_users)
    return history


class Limit(OnInstances, AtLeast):
    """The exact probability of holding a maximiser rises on all small graphs, to 0.99 on enough of them."""

    kind: Literal["limit"]

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Look at the probabilities of each annealer."""
        for selector in self.selectors:
            held = probabilities(selector, self.n_instances)
            rises = bool((np.diff(held, axis=1) > 0).all())
            share = float((held[:, -1] >= HELD).mean())
            outcome = FAILS if not rises else HOLDS if share >= self.at_least else UNDECIDED
            least = ", ".join(f"{held[:, i].min():.3g} after 1e{d}" for i, d in enumerate(DECADES))
            note = f"{self.n_instances} graphs of {GRAPH[1]} of {GRAPH[0]} users; least probability: {least}"
            note += f" iterations; it {'rises' if rises else 'does not rise'} on all"
            text = f"graphs on which {LABELS[selector]} holds a maximiser with probability {HELD:g} or more"
            wanted = f"share ≥ {self.at_least:g}, and the probability rises on every graph"
            asked = Comparison(self.kind, "", text, "", wanted)
            yield asked.settled(outcome, share, unit="of the graphs", measure="maximiser held", note=note)


def probabilities(selector: str, n_instances: int) -> Floats:
    """Probability (n, n decades) that annealing holds a maximiser, on instances 0 .. n - 1."""
    from pausefl.selectors.graphs import CRITERIA, Swaps, sample_criteria

    swaps = Swaps.of(*GRAPH)
    walks, losses, best = [], [], []
    for instance in range(n_instances):
        criteria = sample_criteria(GRAPH[0], instance)
        energy = swaps.energies(criteria["ucb"], criteria["g"])
        mask = swaps.kept([criteria[name] for name in CRITERIA[selector]])
        edges = np.zeros((len(energy), len(energy)))
        edges[swaps.u[mask], swaps.v[mask]] = edges[swaps.v[mask], swaps.u[mask]] = 1
        walks.append(edges / edges.sum(axis=1, keepdims=True))
        losses.append(np.maximum(energy[:, None] - energy, 0) / np.ptp(energy))
        best.append(energy == energy.max())
    laws = _laws(np.array(walks), np.array(losses))
    return np.stack([(law * np.array(best)).sum(axis=1) for law in laws], axis=1)


def _laws(walk: Floats, loss: Floats) -> Iterator[Floats]:
    """Yield the distribution (n, N) of the state after each of `DECADES`, from a uniformly random start.

    ``walk`` (n, N, N) has the probabilities of proposals, ``loss`` (n, N, N) a move's loss as a share of C.
    """
    n_instances, n_states = walk.shape[:2]
    law = np.full((n_instances, 1, n_states), 1 / n_states)
    j, log_j = 0, 0.0
    for end in (math.log(10) * decade for decade in DECADES):
        while log_j < end - 1e-12:
            if j < EXACT:
                j += 1
                law, log_j = law @ _step(walk, loss, math.log(1 + j)), math.log(j)
                continue
            width = min(BLOCK, end - log_j)
            block = _step(walk, loss, log_j + width / 2)
            log_length = log_j + math.log(math.expm1(width))
            for _ in range(max(round(log_length / math.log(2)), 0)):  # to the nearest power of two
                block = _stochastic(block @ block)
            law, log_j = law @ block, log_j + width
        yield law[:, 0]


def _step(walk: Floats, loss: Floats, log_j: float) -> Floats:
    """Transition matrices (n, N, N) of one iteration, given ln(1 + j)."""
    return _stochastic(walk * np.exp(-loss * log_j))


def _stochastic(moves: Floats) -> Floats:
    """Set the diagonals so that rows sum to 1."""
    diagonal = np.einsum("nii->ni", moves)  # a view
    diagonal[:] = 0
    diagonal[:] = 1 - moves.sum(axis=2)
    return moves


OnInstancesTest = Exactness | Limit
