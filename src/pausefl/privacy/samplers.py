"""Sources of Laplace noise: reproducible streams for simulations, the operating system for real secrets.

They differ in who can repeat the noise, and in whether the bits of a sum reveal more than the sum should.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.plugins import Plugins
from pausefl.streams import Streams

Vector = NDArray[np.float32]
Noise = NDArray[np.float32] | NDArray[np.float64]


class Sampler(ABC):
    """Samples noise, and adds it to clipped updates.

    Its constructor takes nothing, or the ``streams`` of a seed and the ``purpose`` of the noise.
    """

    #: Sentence for captions.
    caption: ClassVar[str] = ""
    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @abstractmethod
    def sample(self, n: int, scale: float, user: int, round: int) -> Noise:
        """Noise (n,) of a scale for a user's participation in a round."""

    @abstractmethod
    def add(self, update: Vector, noise: Noise, scale: float) -> None:
        """Add noise of a scale to a clipped update, in place."""


class SimulatedSampler(Sampler):
    """Laplace noise in float32, a function of (seed, user, round, coordinate): runs can be repeated.

    For simulations, not for secrets: anyone who knows the seed can sample the noise again and subtract it,
    and which float32 sums can occur depends on the value underneath (Mironov 2012).
    """

    about = "noise from the seed, so that runs can be repeated"

    def __init__(self, streams: Streams, purpose: str = "noise") -> None:
        self.key = streams.key(purpose)

    def sample(self, n: int, scale: float, user: int, round: int) -> Vector:
        """See `Sampler.sample`."""
        # It loads a compiler, which budgets do not need.
        from pausefl.privacy.philox import standard_laplace

        noise = np.empty(n, np.float32)
        standard_laplace(self.key, user, round, noise)
        noise *= np.float32(scale)
        return noise

    def add(self, update: Vector, noise: Noise, scale: float) -> None:
        """See `Sampler.add`."""
        update += noise


class SecureSampler(Sampler):
    """Discrete Laplace noise on a fixed grid, from the operating system's randomness: runs differ.

    The clipped update is rounded towards 0 to multiples of a power of two, which moves no two updates further
    apart than they may be. A whole number of grid steps is added; the sum is exact. A released value thus
    depends on (value + noise) on the grid alone, and floating-point attacks find nothing. The grid is a
    2^16th of the scale or finer, so the distribution is as good as that of continuous noise.

    A magnitude of law P(G >= g) = exp(-g / t) is sampled bit by bit: its binary digits are independent, and
    digit k is 1 with probability 1 / (1 + exp(2^k / t)). Digits compare 64 random bits, and magnitudes end at
    64 t; both change the distribution by less than 1e-17 a coordinate.
    """

    caption = "Noise comes from the operating system's randomness, so no run can be repeated exactly."
    about = "discrete noise on a grid from the operating system's randomness; runs differ"

    #: Grid steps in a scale: 2^16 to 2^17.
    _STEPS = 16

    def sample(self, n: int, scale: float, user: int, round: int) -> NDArray[np.float64]:
        """See `Sampler.sample`; ``user`` and ``round`` are not used."""
        grid = self.grid(scale)
        return grid * discrete_laplace(n, scale / grid)

    def add(self, update: Vector, noise: Noise, scale: float) -> None:
        """See `Sampler.add`."""
        grid = self.grid(scale)
        update[:] = grid * np.trunc(update / grid) + noise

    def grid(self, scale: float) -> float:
        """The spacing of released values: a power of two."""
        return math.ldexp(1.0, math.frexp(scale)[1] - 1 - self._STEPS)


def discrete_laplace(n: int, t: float) -> NDArray[np.float64]:
    """N integers of law P(x) proportional to exp(-|x| / t), t > 0, from the operating system."""
    magnitude, negative = np.zeros(n), np.zeros(n, np.bool_)
    todo = np.arange(n)
    while len(todo):  # a negative 0 would make 0 twice as likely
        magnitude[todo] = _geometric(len(todo), t)
        negative[todo] = _words(len(todo)) & np.uint64(1) == 1
        todo = todo[negative[todo] & (magnitude[todo] == 0)]
    return np.where(negative, -magnitude, magnitude)


def _geometric(n: int, t: float) -> NDArray[np.float64]:
    """N integers of law P(G >= g) = exp(-g / t)."""
    total = np.zeros(n)
    for k in range(max(math.ceil(math.log2(64 * t)), 1)):
        probability = 1 / (1 + math.exp(min(2.0**k / t, 700.0)))
        total += 2.0**k * (_words(n) < np.uint64(int(math.ldexp(probability, 64))))
    return total


def _words(n: int) -> NDArray[np.uint64]:
    """N words of 64 random bits from the operating system."""
    return np.frombuffer(os.urandom(8 * n), np.uint64)


#: In the order of the reference of settings.
SAMPLERS = Plugins("sampler", Sampler, {"simulated": SimulatedSampler, "secure": SecureSampler})  # type: ignore[type-abstract]
