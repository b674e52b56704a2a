"""How evenly users take part."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pausefl.settings import Scenario


def jain(values: NDArray[np.float64]) -> float:
    """Jain's index of fairness of values (n,) >= 0: 1 if all are equal, 1/n if all but one are 0."""
    total = float(values.sum())
    return total**2 / (len(values) * float(values @ values)) if total else 1.0


def fairness_of(scenario: Scenario, selections: Iterable[NDArray[np.int64]]) -> dict[str, float]:
    """How even the selections (n,) of some rounds are.

    ``fairness``, `jain`'s index of leakage over users (without privacy, of participations); ``slow_share`` of
    participations by the slower half of the users. 1 and NaN if nobody took part.
    """
    n_users = scenario.network.n_users
    counts = np.zeros(n_users, np.int64)
    for users in selections:
        counts[np.unique(users)] += 1
    spent = counts if scenario.privacy is None else scenario.privacy.make_schedule().spent(counts)
    total = counts.sum()
    return {
        "fairness": jain(spent.astype(np.float64)),
        "slow_share": float(counts[n_users // 2 :].sum() / total) if total else math.nan,
    }
