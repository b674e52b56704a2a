"""Selection policies that do not learn: random, fastest in expectation, everyone (PAUSE v2, Section V-A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.history import History

Users = NDArray[np.int64]


def select_random(history: History, rng: np.random.Generator) -> Users:
    """M users uniformly without replacement (McMahan et al., AISTATS 2017)."""
    return np.sort(rng.choice(len(history.data_size), history.n_selected, replace=False))


def select_all(history: History, rng: np.random.Generator) -> Users:
    """All K users, as FedAvg with full participation does."""
    return np.arange(len(history.data_size))


class Fastest:
    """The m users fastest in expectation, always the same ones; told the true means, unlike a bandit."""

    def __init__(self, mean_latency: NDArray[np.float64]) -> None:
        self.mean_latency = mean_latency

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """The ``history.n_selected`` users of smallest mean latency."""
        return np.sort(np.argsort(self.mean_latency, kind="stable")[: history.n_selected])
