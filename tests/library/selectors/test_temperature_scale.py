"""The temperature of annealing from the spread of rewards, in place of the papers' bound."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scenarios import changed

from pausefl.bandit.rewards import AverageReward
from pausefl.errors import ConfigError
from pausefl.federated.untrained import selection_only
from pausefl.selectors import annealing, best_gain_walk
from pausefl.selectors.best_gain import SaPauseBestGain
from pausefl.selectors.sa_pause import SaPause
from pausefl.selectors.search import AnnealingSearch, Objective
from pausefl.settings import Scenario

REWARD = AverageReward(2.0, 2.0, 5.0)


def objective(*bound: float) -> Objective:
    """Five users, of whom two are selected; a penalty on two of one cluster."""
    score, cluster = np.array([0.3, 0.1, 0.7, 0.2, 0.9]), np.array([0, 0, 1, 1, 2])
    return Objective(np.array(bound), score, cluster, np.array([0.0, 0.4]))


def spread_by_hand(of: Objective) -> float:
    """Largest less smallest finite value of all ten selections."""
    values = []
    for pair in combinations(range(5), 2):
        penalty = 0.4 if of.cluster[pair[0]] == of.cluster[pair[1]] else 0.0
        values.append(min(of.bound[list(pair)]) + of.score[list(pair)].sum() - penalty)
    finite = [one for one in values if np.isfinite(one)]
    return max(finite) - min(finite)


@pytest.mark.parametrize("cls", [SaPause, SaPauseBestGain])
def test_the_spread_is_the_range_of_the_rewards(cls: type[AnnealingSearch]) -> None:
    select = cls(REWARD, 1.0, 10, 30.0, temperature_scale="spread")
    for bound in ((0.5, 0.6, 1.2, 0.1, 0.4), (np.inf, 0.6, np.inf, 0.1, 0.4), (0.5, 0.5, 0.5, 0.5, 0.5)):
        # A hundred draws miss one of ten selections with a probability of 3e-5.
        found = select.scale(objective(*bound), 99.0, np.random.default_rng(0))
        assert found == pytest.approx(spread_by_hand(objective(*bound)), rel=1e-12)
    assert select.scale(objective(*[np.inf] * 5), 99.0, np.random.default_rng(0)) == 0.0


def test_without_it_the_bound_is_taken_and_nothing_is_drawn() -> None:
    rng = np.random.default_rng(0)
    assert SaPause(REWARD, 1.0, 10, 30.0).scale(objective(0.5, 0.6, 1.2, 0.1, 0.4), 99.0, rng) == 99.0
    assert rng.random() == np.random.default_rng(0).random()


@pytest.mark.parametrize(
    ("selector", "module"), [("sa_pause", annealing), ("sa_pause_best_gain", best_gain_walk)]
)
def test_the_walk_starts_from_the_spread_over_the_divisor(
    demo: Scenario, monkeypatch: pytest.MonkeyPatch, selector: str, module: Any
) -> None:
    """And every selection has the same value, the temperature stays above 0."""
    walk, temperatures = module.anneal, list[float]()
    place = 8 if selector == "sa_pause" else 7

    def recorded(*given: Any) -> Any:
        temperatures.append(given[place])
        return walk(*given)

    monkeypatch.setattr(module, "anneal", recorded)
    spread = changed(demo, selection={"temperature_scale": "spread", "temperature_divisor": 7.0})
    spreads = list[float]()
    scale = AnnealingSearch.scale

    def kept(self: AnnealingSearch, *given: Any) -> float:
        spreads.append(scale(self, *given))
        return spreads[-1]

    monkeypatch.setattr(AnnealingSearch, "scale", kept)
    simulation = selection_only(spread, selector, 0)
    temperatures.clear()  # of the warm-up
    spreads.clear()
    simulation.run(20)
    assert len(spreads) > 10
    assert all(0 < one < 10 for one in spreads)
    np.testing.assert_allclose(temperatures, np.array(spreads) / 7.0)


def test_an_unknown_scale_is_refused(demo: Scenario) -> None:
    with pytest.raises(ConfigError, match=r"temperature_scale = 'range' must be 'spread'"):
        changed(demo, selection={"temperature_scale": "range"})
