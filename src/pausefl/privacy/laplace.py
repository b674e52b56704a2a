"""The mechanism of the papers' experiments: clamp every coordinate, add Laplace noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CoordinateMechanism:
    """Per-coordinate Laplace mechanism.

    A coordinate clamped to [-Delta/2, Delta/2] changes by at most Delta when the user's data are replaced by
    any others, so adding Laplace(0, Delta / eps) makes that coordinate eps-LDP under replace-one adjacency of
    whole local data sets (Dwork and Roth 2014, Theorem 3.6). The guarantee is *per coordinate*: for the whole
    update of d coordinates basic composition gives d * eps (deviation D8).

    Attributes
    ----------
    sensitivity
        Delta > 0, in the units of the parameters.
    """

    sensitivity: float

    def noise(self, n: int, epsilon: float, rng: np.random.Generator) -> NDArray[np.float32]:
        """Noise (n,) for one update.

        Parameters
        ----------
        n
            Number of coordinates that are protected.
        epsilon
            Budget of this participation, per coordinate.
        rng
            The noise stream of this user and round.
        """
        return standard_laplace(n, rng) * np.float32(self.sensitivity / epsilon)

    def release(self, update: NDArray[np.float32], noise: NDArray[np.float32]) -> None:
        """Clamp an update (n,) and add its noise (n,), in place."""
        update[np.isnan(update)] = 0  # which would tell for certain that training diverged
        half = np.float32(self.sensitivity / 2)
        np.clip(update, -half, half, out=update)
        update += noise


def standard_laplace(n: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """N draws of Laplace(0, 1): an exponential magnitude with a fair random sign."""
    magnitude = rng.standard_exponential(n, dtype=np.float32)
    sign = np.unpackbits(np.frombuffer(rng.bytes((n + 7) // 8), np.uint8), count=n)
    return np.where(sign, magnitude, -magnitude)
