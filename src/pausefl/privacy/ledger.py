"""The account of each user: participations, budget spent, values released without protection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import ConfigError, PrivacyError
from pausefl.privacy.accountants import Accountant, PureAccountant, check_prices, unaffordable
from pausefl.privacy.mechanisms import Mechanism
from pausefl.privacy.schedule import Schedule, check_sums
from pausefl.states import saved

if TYPE_CHECKING:
    import pandas as pd

#: Relative rounding error that a sum of prices may have.
_ROUNDING = 1e-12
#: Least budget whose noise stays in the range of float32.
_LEAST_EPSILON = 1e-30


@dataclass
class Ledger:
    """Privacy account of one federated job, and the filter that enforces the budget.

    What a user has spent is an epsilon of what the mechanism protects, by the accountant: the sum of budgets,
    or an epsilon at some delta. That it never exceeds the schedule's ``epsilon_total`` holds whoever is
    selected and when, even if that depends on earlier releases.

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
    accountant
        What budgets add up to.
    """

    n_users: int
    n_protected: int
    n_unprotected: int
    schedule: Schedule | None
    mechanism: Mechanism | None = None
    loss_share: float = 0.0
    accountant: Accountant = PureAccountant()  # noqa: RUF009 (cannot be changed)
    participations: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        if self.schedule is not None:
            check_sums(self.schedule)
            check_prices(self.accountant, self.schedule, self.loss_share)
            if problem := unaffordable(self.accountant, self.schedule):
                raise ConfigError(f"schedule: {problem}, so nobody could ever be selected")
            self._budget = self.accountant.budget(self.schedule.epsilon_total)
        self.restore(np.zeros(self.n_users, np.int64))

    def restore(self, participations: NDArray[np.int64]) -> None:
        """Continue from the participations (K,) of an earlier ledger; `PauseflError` if they cannot be."""
        state = {"participations": participations}
        self.participations = saved(state, "participations", np.int64, (self.n_users,), 0)
        self._price = np.zeros(self.n_users)
        self._next = np.full(self.n_users, np.inf)
        self._account(np.arange(self.n_users))

    def may_take_part(self) -> NDArray[np.bool_]:
        """Whether each user (K,) has budget for another participation; always true without privacy."""
        if self.schedule is None:
            return np.ones(self.n_users, np.bool_)
        return self._affordable() & (self._next >= _LEAST_EPSILON)

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

    def refund(self, users: NDArray[np.int64]) -> None:
        """Undo the last `spend` of each user: nothing was sent to it, so that it cannot release anything."""
        self.participations[users] -= 1
        self._account(users)

    def spent(self) -> NDArray[np.float64]:
        """Epsilon (K,) of all participations so far, by the accountant."""
        return np.array(self.accountant.epsilon(self._price))

    def privacy(self) -> NDArray[np.float64]:
        """p_k (K,): share of the budget that is left (v2, eq. 7); ones without privacy.

        It is the share of the total price, in the accountant's unit: there participations add up, so that two
        of the same budget take the same part of p_k.
        """
        if self.schedule is None:
            return np.ones(self.n_users)
        return np.asarray(np.maximum(1.0 - self._price / self._budget, 0.0))

    def _affordable(self) -> NDArray[np.bool_]:
        """Whether the total price of each user (K,) leaves enough for its next participation."""
        due = self._price + self.accountant.cost(self._next)
        return np.asarray(due <= self._budget * (1 + _ROUNDING))

    def _account(self, users: NDArray[np.int64]) -> None:
        """Compute what some users have spent, and may spend next, from their participations."""
        n = self.participations[users]
        if self.schedule is None:
            self._price[users] = np.where(n > 0, np.inf, 0.0)
        else:
            self._price[users] = self.accountant.total(self.schedule, n)
            self._next[users] = self.schedule.epsilon(n + 1)

    def table(self) -> pd.DataFrame:
        """One row a user; ``epsilon_update`` is for the whole update, and for the loss reported with it."""
        spent = update = self.spent()
        if self.schedule is not None and self.mechanism is not None:
            update = self.accountant.of_updates(
                self.schedule, self.participations, self.mechanism, self.n_protected, self.loss_share
            )
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
