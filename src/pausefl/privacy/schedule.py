"""Schedules: how a user's budget is spread over its participations."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.errors import ConfigError
from pausefl.plugins import OwnPartError, Plugins, naming

Floats = NDArray[np.float64]

#: Types of numbers.
NUMBER = (int, float, np.integer, np.floating)

#: Above it e^x may overflow and e^-x lose digits, so a budget is written with a smaller exponent. Below it
#: the last digits are those of published results.
_LARGE = 600.0

#: Participations of a user's own schedule or accountant that are checked.
CHECKED = 1000
#: Rounding that the sums of a user's own schedule may have.
_ROUNDING = 1e-9


class Schedule(ABC):
    """Budgets eps_1, eps_2, … of a user's participations.

    The accountant (`pausefl.privacy.accountants`) says how many of them a user may spend. A schedule's
    constructor takes keys of the section ``privacy`` of a scenario.
    """

    #: eps_bar, the budget of a user.
    epsilon_total: float
    #: Whether every participation has a budget, however small.
    endless: ClassVar[bool] = False
    #: Sentence for captions, formatted with the keys of the section ``privacy``.
    caption: ClassVar[str] = ""
    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @abstractmethod
    def epsilon(self, participation: ArrayLike) -> Floats:
        """Budget of the i-th participation, elementwise, i >= 1; 0 if there is no such participation."""

    @abstractmethod
    def spent(self, participations: ArrayLike) -> Floats:
        """Sum of the first n budgets, elementwise; 0 for n = 0."""


def check_sums(schedule: Schedule) -> None:
    """Raise `OwnPartError` if a user's own schedule accounts for less than it spends.

    So for the first `CHECKED` participations; of the package's own schedules, tests show it.
    """
    if type(schedule).__module__.startswith("pausefl."):
        return
    name = f"schedule '{type(schedule).__module__}:{type(schedule).__name__}'"
    with naming(type(schedule), name, "when its sums were checked"):
        n = np.arange(CHECKED + 1)
        budgets, spent = np.asarray(schedule.epsilon(n[1:])), np.asarray(schedule.spent(n))
        sums = np.concatenate([[0.0], np.cumsum(budgets)])
    if spent.shape != n.shape or not (np.isfinite(sums).all() and (budgets >= 0).all()):
        raise OwnPartError("needs a budget of 0 or more, and a sum, of each participation", name)
    short = ~(spent >= sums * (1 - _ROUNDING) - _ROUNDING)
    if short.any() or spent[0] != 0:
        first = int(np.flatnonzero(short)[0]) if short.any() else 0
        raise OwnPartError(
            f"spends {sums[first]:g} in {first} participations, and says {spent[first]:g}", name
        )


def _check_positive(**values: Any) -> None:
    """Raise `ConfigError` unless all values are finite numbers above 0."""
    for name, value in values.items():
        if not isinstance(value, NUMBER) or not 0 < value < math.inf:
            raise ConfigError(f"{name} = {value!r} must be a number above 0")


@dataclass(frozen=True)
class GeometricSchedule(Schedule):
    """eps_i = eps_bar (e^eta - 1) e^(-eta i) (PAUSE v2, Section III-A).

    The sum over all i is eps_bar, so a user can take part for ever without exceeding its budget.

    Attributes
    ----------
    epsilon_total
        eps_bar > 0.
    decay
        eta > 0.
    """

    endless = True
    about = "over participations without end, with `decay`"

    epsilon_total: float
    decay: float

    def __post_init__(self) -> None:
        _check_positive(epsilon_total=self.epsilon_total, decay=self.decay)

    def epsilon(self, participation: ArrayLike) -> Floats:
        """See `Schedule.epsilon`."""
        i = np.asarray(participation, dtype=np.float64)
        early = self.epsilon_total * np.expm1(min(self.decay, _LARGE)) * np.exp(-self.decay * i)
        late = -self.epsilon_total * np.expm1(-self.decay) * np.exp(-self.decay * (i - 1))
        return np.asarray(np.where(self.decay * i < _LARGE, early, late))

    def spent(self, participations: ArrayLike) -> Floats:
        """See `Schedule.spent`: eps_bar (1 - e^(-eta n))."""
        n = np.asarray(participations, dtype=np.float64)
        return np.asarray(-self.epsilon_total * np.expm1(-self.decay * n))


@dataclass(frozen=True)
class UniformSchedule(Schedule):
    """eps_i = eps_bar / N for the first N participations, the only ones.

    Attributes
    ----------
    epsilon_total
        eps_bar > 0.
    n_participations
        N >= 1.
    """

    caption = "It is spread evenly over {n_participations} participations; there are no more."
    about = "in equal parts over `n_participations`"

    epsilon_total: float
    n_participations: int

    def __post_init__(self) -> None:
        _check_positive(epsilon_total=self.epsilon_total, n_participations=self.n_participations)
        if self.n_participations % 1:
            raise ConfigError(f"n_participations = {self.n_participations} must be a whole number")

    def epsilon(self, participation: ArrayLike) -> Floats:
        """See `Schedule.epsilon`."""
        i = np.asarray(participation)
        return np.where(i <= self.n_participations, self.epsilon_total / self.n_participations, 0.0)

    def spent(self, participations: ArrayLike) -> Floats:
        """See `Schedule.spent`."""
        n = np.asarray(participations, dtype=np.float64)
        return np.asarray(self.epsilon_total * np.minimum(n / self.n_participations, 1.0))


@dataclass(frozen=True)
class ConstantSchedule(Schedule):
    """eps_i = eps for every participation, as many as the accountant admits.

    By sums these are eps_bar / eps participations, rounded down. By zCDP they are more where eps is small:
    with eps_bar = 10, eps = 0.1 and delta = 1e-5, 310 instead of 100.

    Attributes
    ----------
    epsilon_total
        eps_bar > 0.
    epsilon_each
        eps > 0.
    """

    caption = "Each participation may spend {epsilon_each}; there are no more once the budget is spent."
    about = "`epsilon_each` for every participation, until the accountant refuses"

    epsilon_total: float
    epsilon_each: float

    def __post_init__(self) -> None:
        _check_positive(epsilon_total=self.epsilon_total, epsilon_each=self.epsilon_each)

    def epsilon(self, participation: ArrayLike) -> Floats:
        """See `Schedule.epsilon`."""
        return np.full(np.shape(participation), float(self.epsilon_each))

    def spent(self, participations: ArrayLike) -> Floats:
        """See `Schedule.spent`: n eps."""
        return np.asarray(self.epsilon_each * np.asarray(participations, dtype=np.float64))


#: In the order of the reference of settings.
SCHEDULES = Plugins(
    "schedule",
    Schedule,  # type: ignore[type-abstract]
    {"geometric": GeometricSchedule, "uniform": UniformSchedule, "constant": ConstantSchedule},
)
