"""Policies that do not learn (PAUSE v2, Section V-A; BSFL, Section VI)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.selectors.base import Selector
from pausefl.selectors.look import DASH_DOT, DOT, LONG_DASH, LONG_DASH_DOT, SHORT_DASH, Look

Users = NDArray[np.int64]


class Random(Selector):
    """Users drawn uniformly, m without replacement (McMahan et al., AISTATS 2017)."""

    look = Look("Random", "#BD7C00", "^", SHORT_DASH, zorder=3.2)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        return np.sort(rng.choice(history.candidates(), history.n_selected, replace=False))


class RandomBySize(Selector):
    """Users drawn one after another, m without replacement, by the sizes of their data (BSFL, VI).

    Such a sample holds the m users of least independent exponential times, whose rates are the sizes
    (Efraimidis and Spirakis, IPL 2006).
    """

    look = Look("Random by size", "#A38A2E", "^", DOT, width=1.5, zorder=3.1, hollow=True)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users = history.candidates()
        times = rng.standard_exponential(len(users)) / history.data_size[users]
        return np.sort(users[np.argsort(times)[: history.n_selected]])


class Everyone(Selector):
    """All available users: FedAvg with full participation, and with privacy."""

    takes_everyone = True
    look = Look("FedAvg with privacy", "#D55E00", "v", LONG_DASH, width=1.6, zorder=2.7)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select everyone who is available."""
        return history.candidates()


class EveryoneInTheClear(Everyone):
    """All available users, whose updates are neither clamped nor noised."""

    private = False
    look = Look("FedAvg w/o privacy", "#7A2E00", "v", LONG_DASH_DOT, zorder=2.6, hollow=True)


class Fastest(Selector):
    """The m users of least expected latency, always the same; it knows the true means, unlike a bandit."""

    fixed_users = True
    # Its leakage coincides with that of FedAvg, whose longer dashes show beneath it.
    look = Look("Fastest in expectation", "#8C8C8C", "*", DASH_DOT, zorder=2.8)

    def __init__(self, mean_latency: NDArray[np.float64]) -> None:
        self.mean_latency = mean_latency

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """The ``history.n_selected`` users of smallest mean latency."""
        users = rng.permutation(history.candidates())
        return np.sort(users[np.argsort(self.mean_latency[users], kind="stable")[: history.n_selected]])
