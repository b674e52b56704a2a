"""Who is there in a round, and who of those that are asked does not answer.

Both are classes, whose constructors take keys of the section ``network`` of a scenario. What they draw is the
same for every selector of a seed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.trace_files import csv_rows
from pausefl.errors import DataError
from pausefl.plugins import Plugins
from pausefl.streams import Streams

Bools = NDArray[np.bool_]


class _Law(ABC):
    """Some of the users, anew in each round."""

    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @abstractmethod
    def sample(self, streams: Streams, round: int) -> Bools:
        """Whether each user (K,) is one of them in a round."""


class Availability(_Law):
    """Which users can be asked."""

    def at(self, streams: Streams, round: int, elapsed_s: float) -> Bools:
        """Whether each user (K,) can be asked in a round that starts at a simulated time, in s."""
        return self.sample(streams, round)

    def wait(self, elapsed_s: float, users: Bools) -> float:
        """Simulated seconds until one of ``users``, a mask (K,), can be asked; 0 if time changes nothing."""
        return 0.0


class Failures(_Law):
    """Which users do not answer, if they are asked."""


@dataclass
class Always(Availability):
    """Everyone, in every round."""

    about = "everyone, in every round (the papers)"

    n_users: int

    def sample(self, streams: Streams, round: int) -> Bools:
        """All."""
        return np.ones(self.n_users, np.bool_)


@dataclass
class AtRandom(Availability):
    """Each user with the same probability, anew in each round."""

    about = "each user in each round with probability `availability_share`"

    n_users: int
    availability_share: float

    def sample(self, streams: Streams, round: int) -> Bools:
        """See `Availability.sample`."""
        return streams.generator("availability", round=round).random(self.n_users) < self.availability_share


@dataclass
class Daily(Availability):
    """Each user for the same share of a day, which begins when it does for that user: at a random round."""

    about = "each user for a share `availability_share` of a day of `day_rounds` rounds; days begin at random"

    n_users: int
    availability_share: float
    day_rounds: int

    def sample(self, streams: Streams, round: int) -> Bools:
        """See `Availability.sample`."""
        begin = streams.generator("availability").random(self.n_users)
        return np.asarray((round / self.day_rounds - begin) % 1.0 < self.availability_share)


class Recorded(Availability):
    """Users as in a trace, a CSV file with the columns ``user``, ``from_s`` and ``to_s``.

    A user can be asked from ``from_s`` up to, and not including, ``to_s``, both in simulated seconds; one
    without rows, never. After the last ``to_s`` the trace starts again. Rounds that find nobody with budget
    wait until somebody can be asked.
    """

    about = "as in a trace: a CSV file `availability_file` with the columns user, from_s, to_s"

    def __init__(self, n_users: int, availability_file: str) -> None:
        rows = csv_rows(availability_file, ("user", "from_s", "to_s"), "network.availability_file")
        for user, begin, end in rows:
            if not 0 <= user < n_users or user != int(user):
                raise DataError(f"{availability_file}: there is no user {user:g} among {n_users} users")
            if not 0 <= begin < end:
                raise DataError(
                    f"{availability_file}: user {user:g} cannot be there from {begin:g} s to {end:g} s"
                )
        if not rows:
            raise DataError(f"{availability_file} has no rows, so nobody would ever be there")
        self.n_users = n_users
        users, self.begin, self.end = np.array(rows).T
        self.users, self.period = users.astype(np.int64), float(self.end.max())

    def sample(self, streams: Streams, round: int) -> Bools:
        """Those who are there at the start; `at` knows the time."""
        return self.at(streams, round, 0.0)

    def at(self, streams: Streams, round: int, elapsed_s: float) -> Bools:
        """Those who are there at a time."""
        there = np.zeros(self.n_users, np.bool_)
        there[self.users[self._there(elapsed_s)]] = True
        return there

    def wait(self, elapsed_s: float, users: Bools) -> float:
        """See `Availability.wait`; 0 if none of the users is ever there."""
        mine = users[self.users]
        if self._there(elapsed_s)[mine].any():
            return 0.0
        until = self.begin[mine] - math.fmod(elapsed_s, self.period)
        for wait in np.unique(np.where(until > 0, until, until + self.period)).tolist():
            for _ in range(3):
                if self._there(elapsed_s + wait)[mine].any():
                    return float(wait)
                wait += math.ulp(elapsed_s + wait)  # the sum was rounded to just before somebody comes
        return 0.0

    def _there(self, elapsed_s: float) -> Bools:
        """Whether each row (n,) of the trace is of a time."""
        now = math.fmod(elapsed_s, self.period)
        return np.asarray((self.begin <= now) & (now < self.end))


@dataclass
class Never(Failures):
    """Nobody, ever."""

    about = "nobody (the papers)"

    n_users: int

    def sample(self, streams: Streams, round: int) -> Bools:
        """None."""
        return np.zeros(self.n_users, np.bool_)


@dataclass
class AtARate(Failures):
    """Each user with the same probability, anew in each round."""

    about = "each user in each round with probability `failure_rate`"

    n_users: int
    failure_rate: float

    def sample(self, streams: Streams, round: int) -> Bools:
        """See `Failures.sample`."""
        return streams.generator("failures", round=round).random(self.n_users) < self.failure_rate


#: In the order of the reference of settings.
AVAILABILITIES = Plugins(
    "availability",
    Availability,  # type: ignore[type-abstract]
    {"always": Always, "random": AtRandom, "daily": Daily, "trace": Recorded},
)
FAILURES = Plugins("law of failures", Failures, {"never": Never, "random": AtARate})  # type: ignore[type-abstract]
