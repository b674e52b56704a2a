"""Accountants: what a user's releases cost in all, whether another one may follow, and the epsilon it makes.

An accountant gives each release a price, in a unit in which prices add up. The budget of a user, epsilon_bar,
is a total price that is fixed in advance, and a participation is refused if it would take the total above it.
Such a rule is a privacy filter: its guarantee holds even if earlier releases decide who is selected, and when
(Rogers et al. 2016, "Privacy odometers and filters"; Whitehouse et al. 2023, "Fully-adaptive composition in
differential privacy").

Epsilons are of what the mechanism protects, a coordinate of the update or the update as a whole. Neighbours
are those of `pausefl.privacy.mechanisms`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.errors import ConfigError
from pausefl.plugins import OwnPartError, Plugins, naming
from pausefl.privacy import zcdp
from pausefl.privacy.mechanisms import Mechanism
from pausefl.privacy.schedule import CHECKED, NUMBER, Schedule

Floats = NDArray[np.float64]

#: Relative rounding error that the epsilon of a whole budget may have.
_ROUNDING = 1e-9


class Accountant(ABC):
    """Prices of releases that add up, and the epsilon that a total price stands for.

    Its constructor takes keys of the section ``privacy`` of a scenario. The last two methods follow from the
    first three.
    """

    #: Sentence for captions, formatted with the keys of the section ``privacy``.
    caption: ClassVar[str] = ""
    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @abstractmethod
    def cost(self, epsilon: Floats) -> Floats:
        """Price of a release that is pure epsilon-DP, elementwise; 0 or more, and convex with 0 at 0.

        A release of two parts of a budget then costs no more than one of the whole budget.
        """

    @abstractmethod
    def budget(self, epsilon: float) -> float:
        """Largest total price at which a user's releases guarantee ``epsilon``; above 0."""

    @abstractmethod
    def epsilon(self, price: Floats) -> Floats:
        """Epsilon that releases of this total price guarantee, elementwise; it never falls, and is 0 at 0."""

    def total(self, schedule: Schedule, participations: ArrayLike, share: float = 1.0) -> Floats:
        """Price of ``share`` of each of the first n budgets of a schedule, elementwise in n >= 0."""
        n = np.asarray(participations, dtype=np.int64)
        budgets = schedule.epsilon(np.arange(1, int(n.max(initial=0)) + 1))
        return np.asarray(np.concatenate([[0.0], np.cumsum(self.cost(share * budgets))])[n])

    def of_updates(
        self,
        schedule: Schedule,
        participations: ArrayLike,
        mechanism: Mechanism,
        n_protected: int,
        loss_share: float,
    ) -> Floats:
        """Epsilon of the whole updates of the first n participations and of the losses reported with them.

        An update of n_protected coordinates is as many releases if a coordinate is what the mechanism
        protects, else one.
        """
        n_releases = n_protected if mechanism.protects == "coordinate" else 1
        updates, losses = (
            self.total(schedule, participations, share) for share in (1 - loss_share, loss_share)
        )
        return self.epsilon(n_releases * updates + losses)


@dataclass(frozen=True)
class PureAccountant(Accountant):
    """The price of a release is its epsilon: basic composition, delta = 0 (Dwork and Roth 2014, Thm. 3.16).

    Totals are those that the schedule says, which may have a closed form.
    """

    about = "the sum of epsilons (δ = 0)"

    def cost(self, epsilon: Floats) -> Floats:
        """``epsilon``."""
        return epsilon

    def budget(self, epsilon: float) -> float:
        """``epsilon``."""
        return epsilon

    def epsilon(self, price: Floats) -> Floats:
        """``price``."""
        return price

    def total(self, schedule: Schedule, participations: ArrayLike, share: float = 1.0) -> Floats:
        """``share`` of the sum of the first n budgets, as the schedule says it."""
        return np.asarray(share * schedule.spent(participations))

    def of_updates(
        self,
        schedule: Schedule,
        participations: ArrayLike,
        mechanism: Mechanism,
        n_protected: int,
        loss_share: float,
    ) -> Floats:
        """See `Accountant.of_updates`; what the mechanism says of an update on which the sum was spent."""
        updates, losses = (
            self.total(schedule, participations, share) for share in (1 - loss_share, loss_share)
        )
        return np.array([mechanism.update_epsilon(one, n_protected) for one in updates]) + losses


@dataclass(frozen=True)
class ZcdpAccountant(Accountant):
    """The price of a release is its rho: zero-concentrated differential privacy (Bun and Steinke 2016).

    A release of budget eps_i costs rho_i = eps_i^2 / 2 (Prop. 1.4), rhos add up (Lemma 1.7), and a total of
    rho is (rho + 2 sqrt(rho ln(1/delta)), delta)-DP (Prop. 1.3). A participation is refused if the total
    would exceed the rho whose epsilon is the budget. As this rho is fixed in advance, releases may decide
    what follows (Whitehouse et al. 2023). The epsilon of a smaller total, which rounds and ledgers
    show, is a guarantee for a number of participations that does not depend on releases.

    Many small budgets cost less than their sum, a few large ones more: with delta = 1e-5 a single release of
    eps_i = 1.57 is eps = 8.8.

    Attributes
    ----------
    delta
        Probability in (0, 1) with which the guarantee may fail.
    """

    about = "zero-concentrated differential privacy, which adds up ε²/2 (δ = `delta`)"
    caption = "ε is counted by zCDP and holds with δ = {delta}."

    delta: float

    def __post_init__(self) -> None:
        if not isinstance(self.delta, NUMBER):
            raise ConfigError(f"delta = {self.delta!r} must be a number above 0 and below 1")
        self.budget(1.0)  # which refuses another delta

    def cost(self, epsilon: Floats) -> Floats:
        """Rho of a release, epsilon^2 / 2."""
        return zcdp.rho_of_pure(epsilon)

    def budget(self, epsilon: float) -> float:
        """Rho that is ``epsilon`` at delta: (sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta)))^2."""
        return float(zcdp.rho_for(epsilon, self.delta))

    def epsilon(self, price: Floats) -> Floats:
        """Epsilon of a rho: rho + 2 sqrt(rho ln(1/delta))."""
        return zcdp.epsilon_of(price, self.delta)


#: In the order of the reference of settings.
ACCOUNTANTS = Plugins("accountant", Accountant, {"pure": PureAccountant, "zcdp": ZcdpAccountant})  # type: ignore[type-abstract]


@dataclass(frozen=True)
class Account(Schedule):
    """The budgets of a schedule, with the epsilon that an accountant makes of them in place of their sum.

    Attributes
    ----------
    schedule, accountant
        The two.
    """

    schedule: Schedule
    accountant: Accountant

    @property
    def epsilon_total(self) -> float:  # type: ignore[override]
        """Budget of a user, by the accountant."""
        return self.schedule.epsilon_total

    def epsilon(self, participation: ArrayLike) -> Floats:
        """See `Schedule.epsilon`."""
        return self.schedule.epsilon(participation)

    def spent(self, participations: ArrayLike) -> Floats:
        """Epsilon of the first n participations, elementwise."""
        return self.accountant.epsilon(self.accountant.total(self.schedule, participations))


def unaffordable(accountant: Accountant, schedule: Schedule) -> str:
    """What is wrong if nobody can pay for a first participation; empty if everybody can."""
    first, total = float(schedule.epsilon(np.array([1]))[0]), schedule.epsilon_total
    if float(accountant.cost(np.array([first]))[0]) <= accountant.budget(total) * (1 + _ROUNDING):
        return ""
    return (
        f"a first participation of epsilon = {first:.4g} costs more than epsilon_total = {total:g} pays for"
    )


def check_prices(accountant: Accountant, schedule: Schedule, loss_share: float = 0.0) -> None:
    """Raise `OwnPartError` if a user's own accountant cannot be a filter of a schedule's budgets.

    So for the first `CHECKED` participations; of the package's own accountants, tests show it.
    """
    part = type(accountant)
    if part.__module__.startswith("pausefl."):
        return
    name, total = f"accountant '{part.__module__}:{part.__name__}'", schedule.epsilon_total
    with naming(part, name, "when its prices were checked"):
        budgets = schedule.epsilon(np.arange(1, CHECKED + 1))
        prices: Any = np.asarray(accountant.cost(budgets))
        limit = accountant.budget(total)
        steps = np.linspace(0.0, 1.0, CHECKED + 1) * limit
        epsilons: Any = np.asarray(accountant.epsilon(steps))
    if prices.shape != budgets.shape or not (np.isfinite(prices).all() and (prices >= 0).all()):
        raise OwnPartError("needs a price of 0 or more of each participation", name)
    if not 0 < limit < np.inf:
        raise OwnPartError(f"makes a total price of {limit:g} of epsilon_total = {total:g}", name)
    if epsilons.shape != steps.shape or not (epsilons[0] == 0 and (np.diff(epsilons) >= 0).all()):
        raise OwnPartError("needs an epsilon of each total price, 0 at 0, that never falls", name)
    parts = np.asarray(accountant.cost(loss_share * budgets)) + accountant.cost((1 - loss_share) * budgets)
    if loss_share and not (parts <= prices * (1 + _ROUNDING)).all():
        raise OwnPartError("must not ask more for two parts of a budget than for the whole", name)
    if not epsilons[-1] <= total * (1 + _ROUNDING):
        raise OwnPartError(
            f"makes epsilon = {epsilons[-1]:g} of the price of epsilon_total = {total:g}", name
        )
