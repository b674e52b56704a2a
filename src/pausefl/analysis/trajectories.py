"""A finished run with its outcome, as metrics take it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.outcomes import outcomes
from pausefl.runs.run import Rounds
from pausefl.settings import NetworkSettings


@dataclass(frozen=True)
class Trajectory:
    """One finished run, under one seed."""

    name: str
    """Scenario or study, selector and seed: ``demo_small/pause/seed-0``."""
    rounds: pd.DataFrame
    """One row a round, in order, as `pausefl.runs.run.rounds_of` has them."""
    outcome: Mapping[str, Any]
    """Numbers of the run, as `pausefl.analysis.outcomes.outcomes` returns them."""
    network: NetworkSettings | None = None
    """Of its scenario; None where nobody asks for `expected_s`."""

    @cached_property
    def expected_s(self) -> NDArray[np.float64]:
        """Expected latencies of the users (K,) in simulated seconds; `ConfigError` if the law has none."""
        assert self.network is not None
        return self.network.make_latency().expected_latencies()

    @cached_property
    def is_trained(self) -> bool:
        """Whether it was evaluated on test data."""
        return bool(self.rounds["loss"].notna().any())

    @property
    def leakage(self) -> NDArray[np.float64]:
        """Largest leakage of any user (n,) after each round, as the ledger has it."""
        return self.rounds["leakage_max"].to_numpy(np.float64)

    def digest(self, trained: bool, timed: bool) -> str:
        """Hash of who was selected in each round, and of accuracies, losses and times where they count."""
        rows = [np.asarray(row, np.int64) for row in self.rounds["selection"]]
        found = hashlib.sha256(np.concatenate([[len(row) for row in rows], *rows]).tobytes())
        columns = [*(["accuracy", "loss"] if trained else []), *(["elapsed_s"] if timed else [])]
        found.update(self.rounds[columns].to_numpy(np.float64).tobytes())
        return found.hexdigest()


def name_of(*run: str | int) -> str:
    """A run in messages: scenario, selector, seed."""
    return "{}/{}/seed-{}".format(*run)


def trajectories(
    rounds: Rounds, place: str = "", network: NetworkSettings | None = None, target: float | None = None
) -> dict[tuple[str, int], Trajectory]:
    """Runs by selector and seed; their names begin with ``place``. ``target`` as in `outcomes`."""
    outcome = outcomes(rounds, target)
    return {
        (run.selector, run.seed): Trajectory(
            name_of(place, run.selector, run.seed), table, outcome[run], network
        )
        for run, table in rounds.items()
    }
