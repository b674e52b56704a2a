"""The annealer of the authors' later logs, against its description in a few lines of plain Python."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import permutations

import numpy as np
import pytest
from neighbourhoods import Order, Vertex, neighbours, vertices
from oracles import problem, worth
from scipy import stats

from pausefl.bandit.history import History
from pausefl.bandit.rewards import AverageReward, OverlapReward
from pausefl.selectors.best_gain import SaPauseBestGain
from pausefl.selectors.search import Objective

R1 = AverageReward(1.0, 2.0, 1.0)
R2 = OverlapReward(1.0, 2.0, 1.0, 0.25, 0.05)


def gain(objective: Objective, old: Vertex, new: Vertex) -> float:
    """Difference in scores, and what the least bound falls by."""
    score, bound = objective.score.tolist(), objective.bound.tolist()
    fall = min(min(bound[k] for k in new) - min(bound[k] for k in old), 0.0)
    return float(sum(score[k] for k in new) - sum(score[k] for k in old) + fall)


def proposals(objective: Objective, members: Vertex, order: Order) -> dict[Vertex, float]:
    """Probability of each neighbour to be drawn."""
    around = neighbours(members, len(objective.bound), [order])
    gains = {new: gain(objective, members, new) for new in around}
    weights = {new: math.exp((one - max(gains.values())) / 1e-4) for new, one in gains.items()}
    return {new: weight / sum(weights.values()) for new, weight in weights.items()}


def law(objective: Objective, order: Order, c: float, kappa: float, n_iterations: int) -> dict[Vertex, float]:
    """Probability of each selection to be returned, from a uniformly drawn start."""
    n_users, m = len(objective.bound), objective.n_selected
    energy = {v: worth(objective, tuple(sorted(v))) for v in vertices(n_users, m)}
    start = 1 / len(energy)
    # Where the walk is, what it would return, and whether a move went up so far.
    states: dict[tuple[Vertex, Vertex, bool], float] = {(v, v, False): start for v in energy}
    for i in range(n_iterations):
        after: dict[tuple[Vertex, Vertex, bool], float] = defaultdict(float)
        for (here, best, rose), probability in states.items():
            for new, drawn in proposals(objective, here, order).items():
                difference = energy[new] - energy[here]
                if difference >= max(1e-8, 1e-8 * c):
                    better = not rose or energy[new] > energy[best]
                    after[new, new if better else best, True] += probability * drawn
                    continue
                temperature = math.inf if i == 0 else c / kappa / math.log(i + 1)
                accepted = 0.5 if difference > 0 else math.exp(difference / temperature)
                after[new, best, rose] += probability * drawn * accepted
                after[here, best, rose] += probability * drawn * (1 - accepted)
        states = after
    returned: dict[Vertex, float] = defaultdict(float)
    for (_, best, _), probability in states.items():
        returned[best] += probability
    return returned


def assert_law(found: Counter[Vertex], expected: dict[Vertex, float], n: int) -> None:
    """The counts are those of n draws from the distribution; rare outcomes are pooled."""
    assert set(found) <= {v for v, probability in expected.items() if probability > 0}
    often = [v for v, probability in expected.items() if n * probability >= 10]
    counts = [found[v] for v in often] + [n - sum(found[v] for v in often)]
    shares = [expected[v] for v in often] + [max(1 - sum(expected[v] for v in often), 0.0)]
    if n * shares[-1] < 1e-6:
        assert counts.pop() == 0
        shares.pop()
    if len(shares) > 1:
        assert stats.chisquare(counts, n * np.array(shares) / sum(shares)).pvalue > 1e-4


def small_problem(rng: np.random.Generator, kind: str) -> Objective:
    """Two of five users. Differences are of the size of what the draw and the acceptance depend on."""
    size = {"tiny": 2e-8, "wide": 1.0}.get(kind, 2e-4)
    cluster, costs = ([0, 1, 0, 1, 0], [0.0, 1.5e-4]) if kind == "overlaps" else (None, None)
    bound = rng.uniform(0, size, 5)
    if kind == "ties":
        bound[[0, 1, 3]] = bound[0]
    if kind == "unseen":
        bound[2] = np.inf
    return problem(bound, rng.uniform(0, size, 5), 2, cluster, costs)


def orders(objective: Objective) -> list[Order]:
    """All orders of users from the least bound upwards."""
    bound = objective.bound.tolist()
    ordered = [
        one for one in permutations(range(len(bound))) if [*map(bound.__getitem__, one)] == sorted(bound)
    ]
    return [list(one) for one in ordered]


def search(select: SaPauseBestGain, objective: Objective, rng: np.random.Generator) -> Vertex:
    n_users, m = len(objective.bound), objective.n_selected
    history = History.empty(np.ones(n_users, np.int64), m, 1.0)
    return frozenset(select.search(objective, history, np.arange(n_users), rng).tolist())


@pytest.mark.parametrize("kind", ["r1", "overlaps", "tiny", "wide", "ties", "unseen"])
@pytest.mark.parametrize("n_iterations", [0, 1, 2, 9])
def test_what_is_returned_has_the_law_of_the_description(kind: str, n_iterations: int) -> None:
    rng, n = np.random.default_rng(len(kind)), 3000
    objective = small_problem(rng, kind)
    least_two = np.sort(objective.bound)[:2]
    c = float(least_two[1] - least_two[0]) + 2 * 1.0 + 1.0
    kappa = c / 1e-4 if kind != "wide" else c
    select = SaPauseBestGain(R2 if kind == "overlaps" else R1, 1.0, n_iterations, kappa)
    found = Counter(search(select, objective, rng) for _ in range(n))
    ordered = orders(objective)
    assert len(ordered) == (6 if kind == "ties" else 1)
    expected: dict[Vertex, float] = defaultdict(float)
    for order in ordered:
        for returned, probability in law(objective, order, c, kappa, n_iterations).items():
            expected[returned] += probability / len(ordered)
    assert sum(expected.values()) == pytest.approx(1.0)
    assert_law(found, expected, n)
