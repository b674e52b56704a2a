"""What each constant of PAUSE buys: the same jobs with one setting changed at a time, without training.

Nothing that is measured here depends on what is learned, and streams depend on the seed alone. So a
difference between two values is an effect of the setting.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.latency import mean_latencies
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.settings import Scenario
from pausefl.settings.studies import Knobs
from pausefl.studies.simulate import selection_only
from pausefl.studies.tables import across_seeds

Floats = NDArray[np.float64]

#: What is measured of a run.
METRICS = ("elapsed_s", "leakage_max", "leakage_mean", "fairness", "slow_share", "spread_s")

#: What tells runs apart, besides the seed.
KEY = ["knob", "value", "selector"]


def jain(values: Floats) -> float:
    """Jain's index of fairness of values (n,) >= 0: 1 if all are equal, 1/n if all but one are 0."""
    total = float(values.sum())
    return total**2 / (len(values) * float(values @ values)) if total else 1.0


def measure(scenario: Scenario, selector: str, seed: int) -> dict[str, float]:
    """The `METRICS` of a run.

    Simulated seconds of all rounds; the largest leakage, the mean and `jain`'s index of it over users
    (epsilon at the end; without privacy, the index of participations); the share of participations by the
    slower half of the users; and the mean over rounds of the difference in expected latency between the
    slowest and the fastest selected user, in seconds.
    """
    rounds = selection_only(scenario, selector, seed).run(scenario.training.n_rounds).rounds
    latency = mean_latencies(scenario.network)
    spreads = [np.ptp(latency[np.unique(users)]) for users in rounds["selection"]]
    last = rounds.iloc[-1]
    return {
        "elapsed_s": float(last["elapsed_s"]),
        "leakage_max": float(last["leakage_max"]),
        "leakage_mean": float(last["leakage_mean"]),
        **fairness_of(scenario, rounds["selection"]),
        "spread_s": float(np.mean(spreads)),
    }


def fairness_of(scenario: Scenario, selections: Iterable[NDArray[np.int64]]) -> dict[str, float]:
    """``fairness`` and ``slow_share``, as `measure` has them, of the selections (n,) of some rounds.

    1 and NaN if nobody took part.
    """
    network = scenario.network
    counts = np.zeros(network.n_users, np.int64)
    for users in selections:
        counts[np.unique(users)] += 1
    spent = counts if scenario.privacy is None else make_schedule(scenario.privacy).spent(counts)
    total = counts.sum()
    return {
        "fairness": jain(spent.astype(np.float64)),
        "slow_share": float(counts[network.n_users // 2 :].sum() / total) if total else math.nan,
    }


def compute(study: Knobs, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Run every selector under every seed with every change.

    Returns
    -------
    dict
        ``knobs``, one row a run: ``knob``, ``value`` (text; the name of a variant), ``selector``, ``seed``
        and the `METRICS`. The scenario as it is has knob and value ``usual``.
    """
    known: dict[str, dict[str, float]] = {}
    rows = []
    for (knob, value), scenario in {("usual", "usual"): study.scenario, **study.changed}.items():
        note(f"{knob}: {value}")
        for selector, seed in product(study.scenario.selectors, study.seeds):
            same = _decisive(scenario, selector, seed)
            if same not in known:
                known[same] = measure(scenario, selector, seed)
            rows.append({"knob": knob, "value": value, "selector": selector, "seed": seed} | known[same])
    return {"knobs": pd.DataFrame(rows)}


def _decisive(scenario: Scenario, selector: str, seed: int) -> str:
    """A text that is equal for runs that are sure to be the same."""
    settings: dict[str, Any] = scenario.job_settings()
    if "selection.n_iterations" not in SELECTORS[selector].requires:
        settings["selection"] |= {"n_iterations": None, "temperature_divisor": None}
    return json.dumps([settings, selector, seed], sort_keys=True)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Means and sample standard deviations over seeds, by knob, value and selector.

    Parameters
    ----------
    runs
        As `compute` returns them.

    Returns
    -------
    pandas.DataFrame
        ``knob``, ``value``, ``selector``, ``n_seeds``, and each of the `METRICS` with ``_mean`` and ``_sd``.
    """
    return across_seeds(runs.set_index([*KEY, "seed"])[list(METRICS)])
