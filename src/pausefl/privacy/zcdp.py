"""Zero-concentrated differential privacy: an account of the whole update that grows slower than pure sums.

A mechanism is rho-zCDP if the Renyi divergence of any order a > 1 between its outputs on two neighbours is at
most rho a (Bun and Steinke 2016, Definition 1.1). What is pure eps-DP is eps^2/2-zCDP (Proposition 1.4), what
composes adds its rhos up (Lemma 1.7), and rho-zCDP is (rho + 2 sqrt(rho ln(1/delta)), delta)-DP for every
delta (Proposition 1.3). Pure sums grow with the number of coordinates d times eps, rho with d eps^2 / 2: the
smaller the budget of a coordinate, the more is gained.

Rho adds up also where inputs depend on earlier releases. Where the number of releases does, too, the
conversion to epsilon is valid at a rho fixed in advance (Whitehouse et al. 2023), such as that of the whole
budget. Neighbours, and what is left out, are those of `pausefl.privacy.ledger`. No job imports this module.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pausefl.errors import ConfigError
from pausefl.privacy.mechanisms import CoordinateMechanism, Mechanism, VectorMechanism
from pausefl.privacy.schedule import Schedule

Floats = NDArray[np.float64]

#: Probability with which a guarantee may fail.
DELTA = 1e-5

#: Participations after which budgets that go on for ever count as spent.
_LAST = 10_000


def rho_of_pure(epsilon: ArrayLike) -> Floats:
    """Rho of a pure epsilon-DP release, elementwise: epsilon^2 / 2 (Bun and Steinke 2016, Prop. 1.4)."""
    return np.asarray(np.asarray(epsilon, dtype=np.float64) ** 2 / 2)


def rho_of_gaussian(sensitivity: float, std: ArrayLike) -> Floats:
    """Rho of Gaussian noise, elementwise: sensitivity^2 / (2 std^2) (Bun and Steinke 2016, Prop. 1.6).

    ``sensitivity`` is the largest L2 distance between two values, in the units of ``std``.
    """
    return np.asarray(sensitivity**2 / (2 * np.asarray(std, dtype=np.float64) ** 2))


def epsilon_of(rho: ArrayLike, delta: float = DELTA) -> Floats:
    """Epsilon of rho-zCDP at ``delta`` in (0, 1), elementwise: rho + 2 sqrt(rho ln(1/delta)) (Prop. 1.3)."""
    rho = np.asarray(rho, dtype=np.float64)
    return np.asarray(rho + 2 * np.sqrt(rho * _log_inverse(delta)))


def rho_for(epsilon: ArrayLike, delta: float = DELTA) -> Floats:
    """Largest rho whose `epsilon_of` is ``epsilon`` >= 0 at ``delta``, elementwise."""
    epsilon, log = np.asarray(epsilon, dtype=np.float64), _log_inverse(delta)
    # sqrt(log + epsilon) - sqrt(log), without cancellation.
    return np.asarray((epsilon / (np.sqrt(log + epsilon) + math.sqrt(log))) ** 2)


def rho_of_updates(
    schedule: Schedule,
    mechanism: Mechanism,
    participations: ArrayLike,
    n_protected: int,
    loss_share: float = 0.0,
) -> Floats:
    """Rho of a user's first n participations, whole updates and reported losses; elementwise.

    Under `CoordinateMechanism` the d coordinates of an update have independent noise, so an update of budget
    eps_i is d eps_i^2 / 2. Under `VectorMechanism` it is eps_i^2 / 2.

    Parameters
    ----------
    schedule
        Budgets eps_i by participation.
    mechanism
        What they are spent on.
    participations
        Numbers n >= 0 (any shape). Infinity is the end of the budget: 10,000 participations, after which
        none of the package's endless schedules has anything left for a decay of 0.004 or more.
    n_protected
        The number d of coordinates that are clipped and noised.
    loss_share
        Share s of each budget that pays for a reported loss, which adds (s eps_i)^2 / 2.

    Returns
    -------
    Rho in the shape of ``participations``; NaN under a mechanism that is none of these two, of which it is
    not known whether it is pure.
    """
    n = np.minimum(np.asarray(participations, dtype=np.float64), _LAST).astype(np.int64)
    if isinstance(mechanism, CoordinateMechanism):
        n_releases = n_protected
    elif isinstance(mechanism, VectorMechanism):
        n_releases = 1
    else:
        return np.full(n.shape, np.nan)
    budgets = schedule.epsilon(np.arange(1, int(n.max(initial=0)) + 1))
    each = n_releases * rho_of_pure((1 - loss_share) * budgets) + rho_of_pure(loss_share * budgets)
    return np.asarray(np.concatenate([[0.0], np.cumsum(each)])[n])


def _log_inverse(delta: float) -> float:
    if not 0 < delta < 1:
        raise ConfigError(f"delta = {delta!r} must be between 0 and 1")
    return -math.log(delta)
