"""The latency law of the simulated network (PAUSE v2, Sections II-A and V-A).

Half of the users are fast, half slow. Latencies are normal and floored at tau_min, with a mean for each user
and one standard deviation; means rise linearly inside each half. All times are simulated seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.settings import NetworkSettings
from pausefl.streams import Streams

_QUADRATURE_NODES = 200
_TAIL_STDS = 10.0


def mean_latencies(network: NetworkSettings) -> NDArray[np.float64]:
    """Means (K,) in seconds before latencies are floored; users 0 .. K//2 - 1 are the fast ones."""
    n_fast = network.n_users // 2
    n_slow = network.n_users - n_fast
    fast = np.arange(1, n_fast + 1) / max(n_fast, 1)
    slow = np.arange(1, n_slow + 1) / n_slow
    return np.concatenate(
        [
            network.latency_floor + (network.fast_latency_max - network.latency_floor) * fast,
            network.slow_latency_min + (network.slow_latency_max - network.slow_latency_min) * slow,
        ]
    )


def expected_latencies(network: NetworkSettings) -> NDArray[np.float64]:
    """Expected latencies (K,) in simulated seconds: of max(tau_min, N(mean, std))."""
    std, floor = network.latency_std, network.latency_floor
    above = mean_latencies(network) - floor
    z = above / std
    density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    share_above = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in z])
    return np.asarray(floor + above * share_above + std * density)


def expected_speeds(network: NetworkSettings) -> NDArray[np.float64]:
    """True expected speeds mu_k = E[tau_min / tau_k], shape (K,), by Gauss-Legendre quadrature.

    With tau = max(tau_min, N(mean, std)), mu is the probability mass at the floor plus the integral of
    tau_min / x against the normal density above it. Only a genie may look at this.
    """
    means, std, floor = mean_latencies(network)[:, None], network.latency_std, network.latency_floor
    nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
    low = np.maximum(floor, means - _TAIL_STDS * std)
    high = np.maximum(low, means + _TAIL_STDS * std)
    half = (high - low) / 2
    x = low + half * (nodes + 1)
    density = np.exp(-0.5 * ((x - means) / std) ** 2) / (std * math.sqrt(2 * math.pi))
    above = (half * weights * floor / x * density).sum(axis=1)
    at_floor = np.array([0.5 * math.erfc((m - floor) / (std * math.sqrt(2))) for m in means[:, 0]])
    return np.asarray(at_floor + above)


@dataclass(frozen=True)
class LatencyLaw:
    """The law of tau_{k,t}; samples are the same for every selector of a seed.

    Attributes
    ----------
    network
        Parameters of the law.
    streams
        Streams of the experiment's seed.
    """

    network: NetworkSettings
    streams: Streams

    def sample(self, round: int) -> NDArray[np.float64]:
        """Latencies (K,) in seconds of all users in a round, whether they take part or not."""
        noise = self.streams.generator("latency", round=round).standard_normal(self.network.n_users)
        latency = mean_latencies(self.network) + self.network.latency_std * noise
        return np.maximum(latency, self.network.latency_floor)
