"""The registry of selectors: one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pausefl.config import Scenario
from pausefl.history import History
from pausefl.latency import mean_latencies
from pausefl.rewards import REWARDS
from pausefl.selectors.annealing import SaPause
from pausefl.selectors.baselines import Fastest, select_all, select_random
from pausefl.selectors.exact import Pause


class Select(Protocol):
    """Choose the users of the coming round."""

    def __call__(self, history: History, rng: np.random.Generator) -> NDArray[np.int64]:
        """User ids, ascending, from what was seen and the selector's own stream for the round."""
        ...


@dataclass(frozen=True)
class SelectorInfo:
    """What the federated loop must know of a selector.

    Attributes
    ----------
    build
        Makes the selector for a scenario. Only the builders of selectors that are told the truth by
        definition (``fastest``) look at the scenario's latency law.
    private
        Whether updates are clamped and noised; without, nothing bounds the leakage.
    """

    build: Callable[[Scenario], Select]
    private: bool = True


SELECTORS: dict[str, SelectorInfo] = {
    "pause": SelectorInfo(lambda s: Pause(REWARDS[s.reward.name](s.reward), s.selection.exploitation)),
    "sa_pause": SelectorInfo(lambda s: SaPause(REWARDS[s.reward.name](s.reward), s.selection)),
    "random": SelectorInfo(lambda s: select_random),
    "fastest": SelectorInfo(lambda s: Fastest(mean_latencies(s.network))),
    "fedavg": SelectorInfo(lambda s: select_all),
    "fedavg_no_privacy": SelectorInfo(lambda s: select_all, private=False),
}
