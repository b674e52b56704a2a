"""Schedules: how a user's budget is spread over its participations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.registry.privacy import SCHEDULES
from pausefl.settings import PrivacySettings

Floats = NDArray[np.float64]


class Schedule(ABC):
    """Budgets eps_1, eps_2, … of a user's participations; their sum is at most eps_bar."""

    #: eps_bar, the budget of a user.
    epsilon_total: float
    #: Whether every participation has a budget, however small.
    endless: ClassVar[bool] = False

    @classmethod
    def build(cls, settings: PrivacySettings) -> Self:
        """Make the schedule of a scenario."""
        return cls()

    @abstractmethod
    def epsilon(self, participation: ArrayLike) -> Floats:
        """Budget of the i-th participation, elementwise, i >= 1; 0 if there is no such participation."""

    @abstractmethod
    def spent(self, participations: ArrayLike) -> Floats:
        """Sum of the first n budgets, elementwise; 0 for n = 0, never above ``epsilon_total``."""


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

    epsilon_total: float
    decay: float
    endless = True

    @classmethod
    def build(cls, settings: PrivacySettings) -> Self:
        """Schedule with eps_bar and eta."""
        assert settings.decay is not None
        return cls(settings.epsilon_total, settings.decay)

    def epsilon(self, participation: ArrayLike) -> Floats:
        """See `Schedule.epsilon`."""
        i = np.asarray(participation, dtype=np.float64)
        return np.asarray(self.epsilon_total * np.expm1(self.decay) * np.exp(-self.decay * i))

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

    epsilon_total: float
    n_participations: int

    @classmethod
    def build(cls, settings: PrivacySettings) -> Self:
        """Schedule with eps_bar and N."""
        assert settings.n_participations is not None
        return cls(settings.epsilon_total, settings.n_participations)

    def epsilon(self, participation: ArrayLike) -> Floats:
        """See `Schedule.epsilon`."""
        i = np.asarray(participation)
        return np.where(i <= self.n_participations, self.epsilon_total / self.n_participations, 0.0)

    def spent(self, participations: ArrayLike) -> Floats:
        """See `Schedule.spent`."""
        n = np.asarray(participations, dtype=np.float64)
        return np.asarray(self.epsilon_total * np.minimum(n / self.n_participations, 1.0))


def make_schedule(settings: PrivacySettings) -> Schedule:
    """The schedule of a scenario, one of `pausefl.registry.privacy`."""
    cls: type[Schedule] = SCHEDULES.find(settings.schedule).load()
    return cls.build(settings)
