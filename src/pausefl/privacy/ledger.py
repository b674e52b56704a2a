"""The account of each user: participations, budget spent, values released without protection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PrivacyError
from pausefl.privacy.mechanisms import Mechanism
from pausefl.privacy.schedule import Schedule, check_sums

if TYPE_CHECKING:
    import pandas as pd

#: Relative rounding error that a sum of budgets may have.
_ROUNDING = 1e-12
#: Least budget whose noise stays in the range of float32.
_LEAST_EPSILON = 1e-30


@dataclass
class Ledger:
    """Privacy account of one federated job, and the filter that enforces the budget.

    The account is the sum of budgets, pure epsilon. It holds whoever is selected and when, even if that
    depends on earlier releases, because the budget of a participation depends only on its number.

    Attributes
    ----------
    n_users
        K.
    n_protected, n_unprotected
        Values of one update that are clipped and noised, and values released as they are (batch
        normalisation, deviation D9; all values in a run without privacy).
    schedule
        Budgets by participation; None without privacy, where any participation leaks without bound.
    mechanism
        What a budget is spent on; None without privacy.
    loss_share
        Share s of each budget that is spent on the reported loss, and not on the update.
    """

    n_users: int
    n_protected: int
    n_unprotected: int
    schedule: Schedule | None
    mechanism: Mechanism | None = None
    loss_share: float = 0.0
    participations: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        if self.schedule is not None:
            check_sums(self.schedule)
        self.restore(np.zeros(self.n_users, np.int64))

    def restore(self, participations: NDArray[np.int64]) -> None:
        """Continue from the participations (K,) of an earlier ledger."""
        self.participations = participations.copy()
        self._spent = np.zeros(self.n_users)
        self._next = np.full(self.n_users, np.inf)
        self._account(np.arange(self.n_users))

    def may_take_part(self) -> NDArray[np.bool_]:
        """Whether each user (K,) has budget for another participation; always true without privacy."""
        if self.schedule is None:
            return np.ones(self.n_users, np.bool_)
        affordable = self._spent + self._next <= self.schedule.epsilon_total * (1 + _ROUNDING)
        return np.asarray(affordable & (self._next >= _LEAST_EPSILON))

    def spend(self, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """Count a participation of each user, before anything is released; returns the budgets (n,).

        Budgets are infinite without privacy.

        Raises
        ------
        PrivacyError
            If a user has no budget left; then nothing is counted.
        """
        refused = users[~self.may_take_part()[users]]
        if len(refused):
            raise PrivacyError(f"no privacy budget left for {', '.join(f'user {user}' for user in refused)}")
        epsilon = self._next[users]
        self.participations[users] += 1
        self._account(users)
        return epsilon

    def spent(self) -> NDArray[np.float64]:
        """Leakage (K,) so far: the sum of the budgets of all participations."""
        return self._spent.copy()

    def privacy(self) -> NDArray[np.float64]:
        """p_k (K,): share of the budget that is left (v2, eq. 7); ones without privacy."""
        if self.schedule is None:
            return np.ones(self.n_users)
        return 1.0 - self._spent / self.schedule.epsilon_total

    def _account(self, users: NDArray[np.int64]) -> None:
        """Compute what some users have spent, and may spend next, from their participations."""
        n = self.participations[users]
        if self.schedule is None:
            self._spent[users] = np.where(n > 0, np.inf, 0.0)
        else:
            self._spent[users], self._next[users] = self.schedule.spent(n), self.schedule.epsilon(n + 1)

    def table(self) -> pd.DataFrame:
        """One row a user; ``epsilon_update`` is for the whole update, and for the loss reported with it."""
        spent = update = self.spent()
        if self.mechanism is not None:
            of_update, of_loss = (1 - self.loss_share) * spent, self.loss_share * spent
            update = np.array([self.mechanism.update_epsilon(e, self.n_protected) for e in of_update])
            update += of_loss
        import pandas as pd  # budgets do not need it

        return pd.DataFrame(
            {
                "user": np.arange(self.n_users),
                "participations": self.participations,
                "epsilon_coordinate": spent,
                "epsilon_update": update,
                "values_unprotected": self.participations * self.n_unprotected,
            }
        )
