"""Named random streams: every sample is a function of (seed, purpose, user, round) alone.

Counter-based Philox generators, keyed through `numpy.random.SeedSequence`, make the samples of one purpose
independent of how many were taken for another. Two selectors of one seed therefore meet the same partition,
initial weights, latencies, mini-batch order and noise (common random numbers), so differences between them
are paired; and a resumed job samples what it would have sampled.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Streams:
    """All random streams of one seed.

    Attributes
    ----------
    seed
        Non-negative integer: the seed of the experiment table.
    """

    seed: int

    def generator(self, purpose: str, *, user: int = 0, round: int = 0) -> np.random.Generator:
        """A fresh generator at the start of the stream (seed, purpose, user, round).

        Parameters
        ----------
        purpose
            What is sampled, e.g. ``"latency"``. Distinct purposes are independent.
        user, round
            Indices of the stream within its purpose; 0 where they do not apply.
        """
        return np.random.Generator(np.random.Philox(self._sequence(purpose, user, round)))

    def key(self, purpose: str) -> tuple[int, int]:
        """Two words of 32 bits for (seed, purpose), for a generator that counts users and rounds itself."""
        first, second = self._sequence(purpose, 0, 0).generate_state(2, np.uint32)
        return int(first), int(second)

    def _sequence(self, purpose: str, user: int, round: int) -> np.random.SeedSequence:
        key = (zlib.crc32(purpose.encode()), user, round)
        return np.random.SeedSequence(self.seed, spawn_key=key)
