"""Treatment of a training loss before it leaves its user, and which part of a budget pays for it.

A reported loss is one number that depends on the user's data, so it is a release of its own. Of the budget
eps_i of a participation, s eps_i pays for the loss and (1 - s) eps_i for the update. By basic composition,
both together cost eps_i for each coordinate of the update.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pausefl.privacy.mechanisms import CoordinateMechanism
from pausefl.privacy.protection import Protection
from pausefl.privacy.settings import PrivacySettings
from pausefl.streams import Streams

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LossProtection:
    """Clamps reported losses to [0, B] and adds Laplace(0, B / (s eps_i)) noise.

    Adjacency is replace-one at the level of users, as for updates. Whatever the loss of a participation is a
    mean of, it is one function of the user's data, of the global model and of randomness that does not depend
    on the data. After the clamp it lies in [0, B], so any two local data sets give losses at most B apart:
    that is the sensitivity, for any number of examples. It would be smaller only for neighbours that share
    most of their examples.

    Attributes
    ----------
    share
        The share s of each budget.
    bound
        B > 0, in the units of the loss.
    protection
        Of one coordinate clamped to [-B/2, B/2], on a stream of noise of its own.
    """

    share: float
    bound: float
    protection: Protection

    @classmethod
    def build(cls, settings: PrivacySettings, share: float, streams: Streams) -> LossProtection:
        """Protection with the bound and the sampler of a scenario."""
        assert settings.loss_bound is not None
        sampler = settings.make_sampler(streams, "loss noise")
        return cls(
            share, settings.loss_bound, Protection(CoordinateMechanism(settings.loss_bound), sampler, 1)
        )

    def release(self, losses: Floats, epsilon: Floats, users: NDArray[np.int64], round: int) -> Floats:
        """Losses (n,) as the server receives them, of users who spend ``epsilon`` (n,) in a round.

        A loss that is not a number counts as B, so that it does not show.
        """
        bounded = np.clip(np.nan_to_num(losses, nan=self.bound), 0.0, self.bound)
        released = (bounded - self.bound / 2).astype(np.float32)
        for i, user in enumerate(users.tolist()):
            value, spent = released[i : i + 1], self.share * float(epsilon[i])
            self.protection.release(value, self.protection.noise(spent, user, round), spent, user, round)
        return released.astype(np.float64) + self.bound / 2
