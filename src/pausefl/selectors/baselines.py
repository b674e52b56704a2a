"""Policies that do not learn (PAUSE v2, Section V-A; BSFL, Section VI)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.latency import mean_latencies
from pausefl.selectors.base import Selector
from pausefl.settings import Scenario

Users = NDArray[np.int64]


class Random(Selector):
    """M users uniformly without replacement (McMahan et al., AISTATS 2017)."""

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        return np.sort(rng.choice(history.candidates(), history.n_selected, replace=False))


class RandomBySize(Selector):
    """M users without replacement, one after another in proportion to the sizes of their data (BSFL, VI).

    Such a sample holds the m users of least independent exponential times, whose rates are the sizes
    (Efraimidis and Spirakis, IPL 2006).
    """

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users = history.candidates()
        times = rng.standard_exponential(len(users)) / history.data_size[users]
        return np.sort(users[np.argsort(times)[: history.n_selected]])


class Everyone(Selector):
    """All available users: FedAvg with full participation."""

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select everyone who is available."""
        return history.candidates()


class Fastest(Selector):
    """The m users of least expected latency, always the same; it knows the true means, unlike a bandit."""

    def __init__(self, mean_latency: NDArray[np.float64]) -> None:
        self.mean_latency = mean_latency

    @classmethod
    def build(cls, scenario: Scenario) -> Fastest:
        """Selector with the means of the latency law."""
        return cls(mean_latencies(scenario.network))

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """The ``history.n_selected`` users of smallest mean latency."""
        users = rng.permutation(history.candidates())
        return np.sort(users[np.argsort(self.mean_latency[users], kind="stable")[: history.n_selected]])
