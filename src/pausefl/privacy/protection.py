"""Treatment of an update before it leaves its user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PrivacyError
from pausefl.privacy.mechanisms import Mechanism
from pausefl.privacy.samplers import Noise, Sampler


@dataclass(frozen=True)
class Protection:
    """Clips the protected coordinates of updates and adds noise to them.

    Attributes
    ----------
    mechanism
        How updates are bounded, and how much noise that takes.
    sampler
        Where noise comes from.
    n_protected
        How many coordinates are protected; they come first. The others leave as they are.
    """

    mechanism: Mechanism
    sampler: Sampler
    n_protected: int

    def noise(self, epsilon: float, user: int, round: int) -> Noise:
        """Noise (n_protected,) for a participation of budget ``epsilon``, independent of the update."""
        return self.sampler.sample(self.n_protected, self.mechanism.scale(epsilon), user, round)

    def release(
        self, update: NDArray[np.float32], noise: Noise, epsilon: float, user: int, round: int
    ) -> None:
        """Turn an update (n_values,) into what may leave the user, in place.

        Parameters
        ----------
        update
            All values of the update.
        noise
            What `noise` returned for this participation.
        epsilon, user, round
            As given to `noise`.

        Raises
        ------
        PrivacyError
            If a value is not finite; the update stays as it was.
        """
        if not np.isfinite(update).all():
            raise PrivacyError(
                f"user {user}, round {round}: the update is not finite, so nothing of it is released"
            )
        protected = update[: self.n_protected]
        self.mechanism.clip(protected)
        self.sampler.add(protected, noise, self.mechanism.scale(epsilon))
