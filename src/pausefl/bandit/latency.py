"""Laws of the users' latencies (PAUSE v2, Sections II-A and V-A). All times are simulated seconds.

A law is a class; its constructor takes keys of the section ``network`` of a scenario. Latencies are the same
for every selector of a seed: whoever takes part, all users' are sampled.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.trace_files import csv_rows
from pausefl.errors import ConfigError, DataError
from pausefl.plugins import Plugins
from pausefl.streams import Streams

Floats = NDArray[np.float64]

_QUADRATURE_NODES = 200
_TAIL_STDS = 10.0


class LatencyLaw(ABC):
    """The law of tau_{k,t}."""

    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @abstractmethod
    def sample(self, streams: Streams, round: int) -> Floats:
        """Latencies (K,) in seconds of all users in a round, none below the floor."""

    @abstractmethod
    def means(self) -> Floats:
        """About how long each user takes (K,), in seconds: their order in figures, and who is fastest."""

    def expected_latencies(self) -> Floats:
        """E[tau_k] (K,) in seconds; `ConfigError` if nobody can know it."""
        return self._unknown("latencies")

    def expected_speeds(self) -> Floats:
        """mu_k = E[tau_min / tau_k] (K,), for a genie alone; `ConfigError` if nobody can know it."""
        return self._unknown("speeds")

    def _unknown(self, what: str) -> Floats:
        raise ConfigError(f"the latency law {type(self).__name__} has no expected {what} that stay the same")


def _noise(streams: Streams, round: int, n_users: int) -> Floats:
    """What moves the latencies (K,) of a round, standard normal."""
    return streams.generator("latency", round=round).standard_normal(n_users)


class _Normal(LatencyLaw):
    """Normal around a mean for each user, and floored at tau_min."""

    latency_floor: float

    @abstractmethod
    def std(self) -> float | Floats:
        """Standard deviation, one or one each (K,), in seconds."""

    def means_in(self, round: int) -> Floats:
        """Means (K,) in a round, before latencies are floored."""
        return self.means()

    def sample(self, streams: Streams, round: int) -> Floats:
        """See `LatencyLaw.sample`."""
        mean = self.means_in(round)
        return np.maximum(mean + self.std() * _noise(streams, round, len(mean)), self.latency_floor)

    def expected_latencies(self) -> Floats:
        """Of max(tau_min, N(mean, std))."""
        std, floor = self.std(), self.latency_floor
        above = self.means() - floor
        z = above / std
        density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
        share_above = np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in z])
        return np.asarray(floor + above * share_above + std * density)

    def expected_speeds(self) -> Floats:
        """By Gauss-Legendre quadrature.

        With tau = max(tau_min, N(mean, std)), mu is the probability mass at the floor plus the integral of
        tau_min / x against the normal density above it.
        """
        floor, means = self.latency_floor, self.means()[:, None]
        std = np.broadcast_to(self.std(), self.means().shape)[:, None]
        nodes, weights = np.polynomial.legendre.leggauss(_QUADRATURE_NODES)
        low = np.maximum(floor, means - _TAIL_STDS * std)
        high = np.maximum(low, means + _TAIL_STDS * std)
        half = (high - low) / 2
        x = low + half * (nodes + 1)
        density = np.exp(-0.5 * ((x - means) / std) ** 2) / (std * math.sqrt(2 * math.pi))
        above = (half * weights * floor / x * density).sum(axis=1)
        z = ((means - floor) / (std * math.sqrt(2)))[:, 0]
        at_floor = np.array([0.5 * math.erfc(one) for one in z])
        return np.asarray(at_floor + above)


@dataclass
class _Groups(LatencyLaw):
    """Half of the users are fast, half slow; means rise linearly inside each half (PAUSE v2, V-A).

    Users 0 .. K//2 - 1 are the fast ones. Each half's last mean is its largest.
    """

    n_users: int
    latency_floor: float
    fast_latency_max: float
    slow_latency_min: float
    slow_latency_max: float

    def means(self) -> Floats:
        """Before latencies are floored."""
        return self._means

    @cached_property
    def _means(self) -> Floats:
        n_fast = self.n_users // 2
        n_slow = self.n_users - n_fast
        fast = np.arange(1, n_fast + 1) / max(n_fast, 1)
        slow = np.arange(1, n_slow + 1) / n_slow
        return np.concatenate(
            [
                self.latency_floor + (self.fast_latency_max - self.latency_floor) * fast,
                self.slow_latency_min + (self.slow_latency_max - self.slow_latency_min) * slow,
            ]
        )


@dataclass
class TwoGroups(_Groups, _Normal):
    """Normal, half of the users fast and half slow."""

    about = "normal, half of the users fast and half slow (PAUSE v2, V-A)"

    latency_std: float

    def std(self) -> float:
        """The same of all users."""
        return self.latency_std


@dataclass
class Drift(TwoGroups):
    """`TwoGroups` until a round, from which on user k has the mean that user K - 1 - k had.

    So the slow users are the fast ones then. Expected speeds change, and nobody can be their genie.
    """

    about = "that of `two_groups`, whose fast and slow users swap at round `swap_round`"

    swap_round: int

    def means_in(self, round: int) -> Floats:
        """See `_Normal.means_in`."""
        return self.means() if round < self.swap_round else self.means()[::-1]

    def expected_latencies(self) -> Floats:
        """Unknown: they change."""
        return self._unknown("latencies")

    def expected_speeds(self) -> Floats:
        """Unknown: they change."""
        return self._unknown("speeds")


@dataclass
class LogNormal(_Groups):
    """Log-normal: tau_k = max(tau_min, median_k e^(sigma Z)), with the means of `TwoGroups` as medians."""

    about = "log-normal around the same medians, with `latency_sigma`: a long tail of slow rounds"

    latency_sigma: float

    def sample(self, streams: Streams, round: int) -> Floats:
        """See `LatencyLaw.sample`."""
        return self._at(_noise(streams, round, self.n_users))

    def expected_latencies(self) -> Floats:
        """By quadrature over Z."""
        return self._expected(lambda tau: tau)

    def expected_speeds(self) -> Floats:
        """By quadrature over Z."""
        return self._expected(lambda tau: self.latency_floor / tau)

    def _at(self, z: Floats) -> Floats:
        """Latencies at values of Z, (..., K)."""
        return np.maximum(self.means() * np.exp(self.latency_sigma * z), self.latency_floor)

    def _expected(self, of: Callable[[Floats], Floats]) -> Floats:
        """E[f(tau_k)] (K,), in two parts: f has a kink where tau reaches the floor."""
        kink = np.clip(
            np.log(self.latency_floor / self.means()) / self.latency_sigma, -_TAIL_STDS, _TAIL_STDS
        )
        nodes, weights = (each[:, None] for each in np.polynomial.legendre.leggauss(_QUADRATURE_NODES))
        total = np.zeros(self.n_users)
        for low, high in ((-_TAIL_STDS, kink), (kink, _TAIL_STDS)):
            half = (high - low) / 2
            z = low + half * (nodes + 1)
            density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
            total += (half * weights * of(self._at(z)) * density).sum(axis=0)
        return total


class Trace(LatencyLaw):
    """Measured latencies, from a CSV file with the columns ``user``, ``round`` and ``seconds``.

    Users are numbered from 0, rounds from 1; every user needs every round up to the last. After the last, the
    first comes again.
    """

    about = "measured: a CSV file `latency_file` with the columns user, round, seconds"

    def __init__(self, n_users: int, latency_floor: float, latency_file: str) -> None:
        rows = csv_rows(latency_file, ("user", "round", "seconds"), "network.latency_file")
        n_rounds = len(rows) // n_users
        self.seconds = np.full((n_rounds, n_users), np.nan)
        for user, round, seconds in rows:
            if not (0 <= user < n_users and 1 <= round <= n_rounds):
                raise DataError(
                    f"{latency_file}: {len(rows)} rows for {n_users} users are {n_rounds} rounds, so there"
                    f" can be no user {user:g} in round {round:g}"
                )
            if seconds < 0 or user != int(user) or round != int(round):
                raise DataError(f"{latency_file}: user {user:g} in round {round:g} cannot take {seconds:g} s")
            self.seconds[int(round) - 1, int(user)] = max(seconds, latency_floor)
        if not n_rounds or len(rows) % n_users or np.isnan(self.seconds).any():
            raise DataError(f"{latency_file} needs one row for each of {n_users} users in each round")
        self.latency_floor = latency_floor

    def sample(self, streams: Streams, round: int) -> Floats:
        """Those of the round."""
        return np.asarray(self.seconds[(round - 1) % len(self.seconds)])

    def means(self) -> Floats:
        """Over the rounds of the file."""
        return np.asarray(self.seconds.mean(axis=0))

    def expected_latencies(self) -> Floats:
        """The means."""
        return self.means()

    def expected_speeds(self) -> Floats:
        """Means of tau_min / tau."""
        return np.asarray((self.latency_floor / self.seconds).mean(axis=0))


class Measured(_Normal):
    """Normal around measured means, from a CSV file with the columns ``user``, ``mean`` and ``std``."""

    about = "normal around measured means: a CSV file `latency_file` with the columns user, mean, std"

    def __init__(self, n_users: int, latency_floor: float, latency_file: str) -> None:
        rows = sorted(csv_rows(latency_file, ("user", "mean", "std"), "network.latency_file"))
        if [row[0] for row in rows] != list(range(n_users)):
            raise DataError(f"{latency_file} must have one row for each user from 0 to {n_users - 1}")
        if wrong := [row for row in rows if row[1] <= 0 or row[2] <= 0]:
            raise DataError(f"{latency_file}: mean and std of user {wrong[0][0]:g} must be above 0")
        self.latency_floor = latency_floor
        _, self._means, self._std = np.array(rows).T

    def means(self) -> Floats:
        """Those of the file."""
        return np.asarray(self._means)

    def std(self) -> Floats:
        """Those of the file."""
        return np.asarray(self._std)


#: In the order of the reference of settings.
LATENCIES = Plugins(
    "latency law",
    LatencyLaw,  # type: ignore[type-abstract]
    {"two_groups": TwoGroups, "lognormal": LogNormal, "drift": Drift, "measured": Measured, "trace": Trace},
)
