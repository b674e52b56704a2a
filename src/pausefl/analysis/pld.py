"""A tighter account beside the sums of budgets: (epsilon, delta) by privacy-loss distributions.

Composing distributions of the privacy loss, instead of largest values, gives a smaller epsilon for a delta
above 0 (Koskela, Jälkö and Honkela 2020; Doroshenko et al. 2022). This is not a filter: it holds for a number
of participations fixed in advance. If selection depends on earlier releases, so does that number, and only
the sums of `pausefl.privacy.ledger` hold.

No job imports this module. It needs ``dp-accounting``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pausefl.errors import PauseflError
from pausefl.privacy.mechanisms import CoordinateMechanism, Mechanism, VectorMechanism
from pausefl.privacy.schedule import Schedule
from pausefl.privacy.zcdp import DELTA

#: Grid of privacy losses. Laplace losses are interpolated on it, losses of pure mechanisms rounded up.
_LAPLACE_GRID = 1e-3
_PURE_GRID = 1e-4

#: Larger sums of budgets stay as they are: they protect nothing, and the grid would not fit in memory.
_LARGEST = 1000.0


def epsilons(
    schedule: Schedule,
    mechanism: Mechanism,
    participations: Iterable[int],
    delta: float = DELTA,
    loss_share: float = 0.0,
) -> dict[int, float]:
    """Epsilon of a user's first n participations at ``delta``, for each n given.

    Never below the truth but for rounding, and never above the sum of the n budgets; equal to a sum above
    1,000.

    Parameters
    ----------
    schedule
        Budgets by participation.
    mechanism
        `pausefl.privacy.CoordinateMechanism`: the account is of Laplace noise on one coordinate.
        `pausefl.privacy.VectorMechanism`: of the update as a whole, by the worst of all mechanisms of
        those budgets, randomised response (Kairouz, Oh and Viswanath 2015). Of another mechanism, whose
        noise is not known, each epsilon is NaN.
    participations
        Numbers n >= 0 that the schedule admits.
    delta
        In (0, 1).
    loss_share
        Share of each budget that pays for a reported loss; its Laplace noise is composed with the rest.

    Raises
    ------
    PauseflError
        If ``dp-accounting`` is not installed.
    """
    wanted = set(participations)
    if not isinstance(mechanism, CoordinateMechanism | VectorMechanism):
        return dict.fromkeys(sorted(wanted), math.nan)
    epsilon_by_n = {0: 0.0}
    composed: Any = None
    for n in range(1, max(wanted, default=0) + 1):
        if schedule.spent(n) > _LARGEST:
            return {n: epsilon_by_n.get(n, float(schedule.spent(n))) for n in sorted(wanted)}
        loss = _loss(mechanism, float(schedule.epsilon(n)), loss_share)
        composed = loss if composed is None else composed.compose(loss)
        if n in wanted:
            epsilon = float(composed.get_epsilon_for_delta(delta))
            # Pure epsilon is (epsilon, delta) for every delta.
            epsilon_by_n[n] = float(np.clip(epsilon, 0.0, schedule.spent(n)))
    return {n: epsilon_by_n[n] for n in sorted(wanted)}


def _loss(mechanism: Mechanism, epsilon: float, loss_share: float) -> Any:
    """Privacy-loss distribution of one participation, pessimistic."""
    try:
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError:
        raise PauseflError(
            "the table of privacy needs dp-accounting: pip install 'pausefl[workflow]'"
        ) from None
    of_update, of_loss = (1 - loss_share) * epsilon, loss_share * epsilon
    if isinstance(mechanism, VectorMechanism):
        grid = _PURE_GRID
        update = privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(of_update, 0.0), value_discretization_interval=grid
        )
    else:
        grid = _LAPLACE_GRID
        update = privacy_loss_distribution.from_laplace_mechanism(
            mechanism.scale(of_update), mechanism.sensitivity, value_discretization_interval=grid
        )
    if not loss_share:
        return update
    reported = privacy_loss_distribution.from_laplace_mechanism(
        1 / of_loss, value_discretization_interval=grid
    )
    return update.compose(reported)
