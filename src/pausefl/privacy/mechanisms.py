"""Mechanisms: clipping that bounds an update, and the scale of the Laplace noise that hides it.

Adjacency is replace-one at the level of users: a guarantee compares any two local data sets that a user might
have. It is local: it holds against the server, which sees every released update (Dwork and Roth 2014, Theorem
3.6, applied to the clipped update).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pausefl.registry.privacy import MECHANISMS
from pausefl.settings import PrivacySettings

Vector = NDArray[np.float32]

#: More than the relative error of a product in float32, so that no clipped update is too long.
_ROUNDING = 2.0**-22


class Mechanism(ABC):
    """Laplace mechanism for the protected coordinates of an update."""

    @classmethod
    def build(cls, settings: PrivacySettings) -> Self:
        """Make the mechanism of a scenario."""
        return cls()

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """Largest L1 distance between two clipped updates, in what ``epsilon`` is for."""

    @abstractmethod
    def clip(self, update: Vector) -> None:
        """Bound a finite update (n,), in place."""

    @abstractmethod
    def update_epsilon(self, epsilon: float, n: int) -> float:
        """Epsilon of a whole update of n coordinates on which ``epsilon`` was spent."""

    def scale(self, epsilon: float) -> float:
        """Scale b of the noise of each coordinate, whose variance is 2 b^2."""
        return self.sensitivity / epsilon


@dataclass(frozen=True)
class CoordinateMechanism(Mechanism):
    """The papers' mechanism: each coordinate clamped to [-Delta/2, Delta/2], Laplace(Delta / eps) added.

    A clamped coordinate changes by at most Delta when the user's data are replaced, so each coordinate is
    eps-LDP: *per coordinate*. All n coordinates of an update may change, so the update as a whole is
    n * eps-LDP by basic composition, and no better in the worst case (deviation D8).

    Attributes
    ----------
    width
        Delta > 0, in the units of the parameters.
    """

    width: float

    @classmethod
    def build(cls, settings: PrivacySettings) -> Self:
        """Mechanism with Delta."""
        assert settings.sensitivity is not None
        return cls(settings.sensitivity)

    @property
    def sensitivity(self) -> float:
        """Delta, of one coordinate."""
        return self.width

    def clip(self, update: Vector) -> None:
        """Clamp every coordinate to [-Delta/2, Delta/2]."""
        half = np.float32(self.width / 2)
        if float(half) > self.width / 2:
            half = np.nextafter(half, np.float32(0))
        np.clip(update, -half, half, out=update)

    def update_epsilon(self, epsilon: float, n: int) -> float:
        """``n * epsilon``: basic composition over coordinates."""
        return n * epsilon


@dataclass(frozen=True)
class VectorMechanism(Mechanism):
    """The whole update clipped to L1 norm C, Laplace(2 C / eps) added to each coordinate.

    Two clipped updates are at most 2 C apart in L1, so the update as a whole is eps-LDP, and so is each
    coordinate.

    Attributes
    ----------
    norm
        C > 0, in the units of the parameters.
    """

    norm: float

    @classmethod
    def build(cls, settings: PrivacySettings) -> Self:
        """Mechanism with C."""
        assert settings.clip_norm is not None
        return cls(settings.clip_norm)

    @property
    def sensitivity(self) -> float:
        """2 C, of the whole update."""
        return 2 * self.norm

    def clip(self, update: Vector) -> None:
        """Shrink the update to L1 norm C if it is longer."""
        length = float(np.abs(update).sum(dtype=np.float64))
        if length > self.norm:
            update *= np.float32(self.norm / length * (1 - _ROUNDING))

    def update_epsilon(self, epsilon: float, n: int) -> float:
        """``epsilon``, for any number of coordinates."""
        return epsilon


def make_mechanism(settings: PrivacySettings) -> Mechanism:
    """The mechanism of a scenario, one of `pausefl.registry.privacy`."""
    cls: type[Mechanism] = MECHANISMS.find(settings.mechanism).load()
    return cls.build(settings)
