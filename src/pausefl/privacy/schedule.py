"""How a user's budget is spread over its participations (PAUSE v2, Section III-A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class GeometricSchedule:
    """eps_i = eps_bar (e^eta - 1) e^(-eta i) for the i-th participation, i >= 1.

    The sum over all i is eps_bar, so a user can take part for ever without exceeding its budget.

    Attributes
    ----------
    epsilon_total
        eps_bar, the budget per coordinate of the update.
    decay
        eta > 0.
    """

    epsilon_total: float
    decay: float

    def epsilon(self, participation: ArrayLike) -> NDArray[np.float64]:
        """Budget of the i-th participation, elementwise, i >= 1."""
        i = np.asarray(participation, dtype=np.float64)
        return np.asarray(self.epsilon_total * np.expm1(self.decay) * np.exp(-self.decay * i))

    def spent(self, participations: ArrayLike) -> NDArray[np.float64]:
        """Sum of the first n budgets, elementwise: eps_bar (1 - e^(-eta n)), 0 for n = 0."""
        n = np.asarray(participations, dtype=np.float64)
        return np.asarray(-self.epsilon_total * np.expm1(-self.decay * n))
