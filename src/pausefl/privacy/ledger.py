"""What each user has spent, by how many participations, and what left it without protection."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.privacy.schedule import GeometricSchedule


@dataclass
class Ledger:
    """Privacy account of one federated job. Pure-epsilon sums, valid under adaptive selection.

    Attributes
    ----------
    n_users
        K.
    n_protected, n_unprotected
        Values of one update that are clamped and noised, and values released as they are (normalisation
        layers with batch statistics, deviation D9; all of them in a run without privacy).
    schedule
        Budgets by participation; None for a run without privacy, where any participation leaks without bound.
    """

    n_users: int
    n_protected: int
    n_unprotected: int
    schedule: GeometricSchedule | None
    participations: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.participations = np.zeros(self.n_users, np.int64)

    def next_epsilon(self, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """Per-coordinate budget (n,) of the coming participation of each user; infinite without privacy."""
        if self.schedule is None:
            return np.full(len(users), np.inf)
        return self.schedule.epsilon(self.participations[users] + 1)

    def record(self, users: NDArray[np.int64]) -> None:
        """Count one participation of each user."""
        self.participations[users] += 1

    def spent(self) -> NDArray[np.float64]:
        """Leakage (K,) per coordinate so far: sum of the budgets of all participations."""
        if self.schedule is None:
            return np.where(self.participations > 0, np.inf, 0.0)
        return self.schedule.spent(self.participations)

    def privacy(self) -> NDArray[np.float64]:
        """p_k (K,): share of the budget that is left (v2, eq. 7); ones where there is no budget."""
        if self.schedule is None:
            return np.ones(self.n_users)
        return np.asarray(1.0 - self.spent() / self.schedule.epsilon_total)

    def table(self) -> pd.DataFrame:
        """One row a user; ``epsilon_update`` is basic composition over all protected values."""
        spent = self.spent()
        n_composed = 1 if self.schedule is None else self.n_protected
        return pd.DataFrame(
            {
                "user": np.arange(self.n_users),
                "participations": self.participations,
                "epsilon_coordinate": spent,
                "epsilon_update": spent * n_composed,
                "values_unprotected": self.participations * self.n_unprotected,
            }
        )
