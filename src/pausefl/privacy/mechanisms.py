"""Mechanisms: clipping that bounds an update, and the scale of the Laplace noise that hides it.

Adjacency is replace-one at the level of users: a guarantee compares any two local data sets that a user might
have. It is local: it holds against the server, which sees every released update (Dwork and Roth 2014, Theorem
3.6, applied to the clipped update).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pausefl.plugins import Plugins

Vector = NDArray[np.float32]

#: More than the relative error of a product in float32, so that no clipped update is too long.
_ROUNDING = 2.0**-22


class Mechanism(ABC):
    """Laplace mechanism for the protected coordinates of an update.

    Its constructor takes keys of the section ``privacy`` of a scenario.
    """

    #: What ``epsilon_total`` is for: a coordinate of the update, or the update as a whole.
    protects: ClassVar[Literal["coordinate", "update"]]
    #: Whether a release of budget epsilon costs an accountant no more than one that is pure epsilon-DP: under
    #: ``zcdp`` a rho of epsilon^2 / 2. True of Laplace noise, and under ``zcdp`` of Gaussian noise whose
    #: standard deviation is the L2 sensitivity over epsilon. Where it is false, budgets can only be summed.
    costs_as_pure: ClassVar[bool] = False
    #: Sentence for captions, formatted with the keys of the section ``privacy``.
    caption: ClassVar[str] = ""
    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

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


class CoordinateMechanism(Mechanism):
    """The papers' mechanism: each coordinate clamped to [-Delta/2, Delta/2], Laplace(Delta / eps) added.

    A clamped coordinate changes by at most Delta when the user's data are replaced, so each coordinate is
    eps-LDP: *per coordinate*. All n coordinates of an update may change, so the update as a whole is
    n * eps-LDP by basic composition, and no better in the worst case (deviation D8).

    Parameters
    ----------
    sensitivity
        Delta > 0, in the units of the parameters.
    """

    protects = "coordinate"
    costs_as_pure = True
    caption = (
        "Each user has a budget of ε = {epsilon_total} per coordinate; sensitivity {sensitivity} per"
        " coordinate."
    )
    about = "every coordinate clamped, its noise hides that coordinate"

    def __init__(self, sensitivity: float) -> None:
        self.width = sensitivity

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


class VectorMechanism(Mechanism):
    """The whole update clipped to L1 norm C, Laplace(2 C / eps) added to each coordinate.

    Two clipped updates are at most 2 C apart in L1, so the update as a whole is eps-LDP, and so is each
    coordinate.

    Parameters
    ----------
    clip_norm
        C > 0, in the units of the parameters.
    """

    protects = "update"
    costs_as_pure = True
    caption = (
        "Each user has a budget of ε = {epsilon_total} for its updates as a whole, which are clipped to L1"
        " norm {clip_norm}."
    )
    about = "the update clipped in L1 norm, its noise hides the update as a whole"

    def __init__(self, clip_norm: float) -> None:
        self.norm = clip_norm

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


#: In the order of the reference of settings.
MECHANISMS = Plugins("mechanism", Mechanism, {"coordinate": CoordinateMechanism, "vector": VectorMechanism})  # type: ignore[type-abstract]
