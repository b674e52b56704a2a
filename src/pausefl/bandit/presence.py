"""Who is there in a round, and who of those that are asked does not answer.

Both are classes, whose constructors take keys of the section ``network`` of a scenario. What they draw is the
same for every selector of a seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

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
    {"always": Always, "random": AtRandom, "daily": Daily},
)
FAILURES = Plugins("law of failures", Failures, {"never": Never, "random": AtARate})  # type: ignore[type-abstract]
