"""A walk that lists neighbours follows the law of the other annealers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from neighbourhoods import distribution, graph
from oracles import worth

from pausefl.selectors.listing import walk
from pausefl.selectors.search import Objective

N_USERS, M = 6, 3


def instance(seed: int, n_lists: int) -> tuple[Objective, tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(seed)
    criteria = tuple(rng.random(N_USERS) for _ in range(n_lists))
    nobody = np.zeros(N_USERS, np.int64)
    return Objective(rng.random(N_USERS), rng.random(N_USERS), nobody, np.zeros(M)), criteria


@pytest.mark.parametrize("n_lists", [0, 1, 2])
def test_the_last_vertex_has_the_law_of_the_exact_chain(n_lists: int) -> None:
    objective, criteria = instance(3, n_lists)
    edges = graph(N_USERS, M, [np.argsort(values).tolist() for values in criteria])
    n, n_iterations, scale = 4000, 8, 0.5
    wanted = distribution(objective, edges, scale, n_iterations)
    ends = [
        walk(objective, criteria, scale, n_iterations, np.random.default_rng(seed)).energies[-1]
        for seed in range(n)
    ]
    for vertex, probability in zip(edges, wanted, strict=True):
        held = np.isclose(ends, worth(objective, tuple(vertex))).mean()
        assert abs(held - probability) < 5 * math.sqrt(probability * (1 - probability) / n) + 1e-9
