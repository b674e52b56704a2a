"""The pseudo-regret equals an enumeration of every selection, written from the papers alone.

PAUSE v2, eqs. (5), (7), (8), (10), (18) and (22); BSFL, eqs. (4) to (6). Nothing here is taken from the
library but the selections of a run, the sizes and qualities of the users' data, the clusters, and the
expected speeds, which tests/library/bandit/test_latency.py compares with the integral of their law.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scenarios import changed

from pausefl.data.partition import Partition
from pausefl.federated.simulation import Simulation
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.training.layout import Layout

K, M, N_ROUNDS, SEED = 9, 3, 40, 5
R1 = {"name": "r1", "alpha": 3.0, "beta": 2.0, "gamma": 2.0}
R2 = {**R1, "name": "r2", "n_clusters": 3, "overlap_penalty": 0.04, "overlap_latency": 0.01}
BSFL = {"name": "bsfl", "alpha": 3.0, "beta": 1.5, "gamma": 0.0}
SIZES = (20, 90, 40, 10, 70, 30, 60, 50, 80)
QUALITY = (0.9, 0.3, 1.0, 0.5, 0.7, 0.2, 0.8, 0.4, 0.6)


def scenario_with(demo: Scenario, reward: dict[str, Any]) -> Scenario:
    none = {"n_clusters": None, "overlap_penalty": None, "overlap_latency": None}
    return changed(demo, network={"n_users": K, "n_selected": M}, reward=none | reward)


def simulation_of(scenario: Scenario, selector: str) -> Simulation:
    order = np.arange(sum(SIZES))
    users = tuple(np.split(order, np.cumsum(SIZES)[:-1]))
    share = Partition(users, np.array(QUALITY), np.arange(0))
    return Simulation(scenario, selector, Streams(SEED), share, Layout(5, 5, 5), None, genie=True)


def expected_regret(scenario: Scenario, selections: list[list[int]]) -> list[float]:
    """The regret of each round: the best of all selections less the one made, on the history of these."""
    reward, privacy = scenario.reward, scenario.privacy
    quality = QUALITY if reward.name == "bsfl" else (1.0,) * K
    weights = [q * d for q, d in zip(quality, SIZES, strict=True)]
    due = [M * w / sum(weights) for w in weights]
    found = reward.make_clusters(K, Streams(SEED))
    clusters = list(range(K)) if found is None else found.tolist()
    speeds = scenario.network.make_latency().expected_speeds()
    taken = [0] * K
    regrets = []
    for t, made in enumerate(selections, start=1):
        g = [math.copysign(abs(q - n / t) ** reward.beta, q - n / t) for q, n in zip(due, taken, strict=True)]
        p = [1.0] * K
        if privacy is not None and privacy.decay is not None:
            p = [math.exp(-privacy.decay * n) for n in taken]  # the geometric series of the budgets, summed

        def worth(users: tuple[int, ...], g: list[float] = g, p: list[float] = p) -> float:
            overlaps = len(users) - len({clusters[k] for k in users})
            gain = reward.alpha * (
                math.fsum(g[k] for k in users) / M - (reward.overlap_penalty or 0) * overlaps
            )
            return min(speeds[k] for k in users) + gain + reward.gamma * math.fsum(p[k] for k in users) / M

        best = max(map(worth, combinations(range(K), M)))
        regrets.append(best - worth(tuple(made)))
        for k in made:
            taken[k] += 1
    return regrets


@pytest.mark.parametrize(
    ("selector", "reward"),
    [
        *[(name, R1) for name in ("pause", "sa_pause", "random", "fastest", "bsfl", "genie")],
        *[(name, R2) for name in ("pause", "random", "genie")],
        *[(name, BSFL) for name in ("bsfl", "alsa", "random_by_size")],
    ],
    ids=lambda value: value if isinstance(value, str) else value["name"],
)
def test_the_regret_is_the_best_of_all_selections_less_the_one_made(
    demo: Scenario, selector: str, reward: dict[str, Any]
) -> None:
    scenario = scenario_with(demo, reward)
    rounds = simulation_of(scenario, selector).run(N_ROUNDS).rounds
    expected = np.array(expected_regret(scenario, [users.tolist() for users in rounds["selection"]]))
    assert expected.min() > -1e-12
    np.testing.assert_allclose(rounds["pseudo_regret"], expected, rtol=0, atol=1e-12)
    assert (expected.max() > 0.1) == (selector != "genie")


def test_users_that_are_not_m_have_no_regret(demo: Scenario) -> None:
    simulation = simulation_of(scenario_with(demo, R1), "random")
    for n in (0, M - 1, M + 1):
        assert math.isnan(simulation.regret.of(np.arange(n), simulation.history))
    assert simulation.regret.of(np.arange(M), simulation.history) >= 0
