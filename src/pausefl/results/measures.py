"""What a selector achieves within a simulated time: speed and its parts, budget spent and its parts.

Time to a target accuracy is rounds to the target times the mean round. The largest budget spent follows from
how often users take part on average, and from how unevenly. A run that misses a target within the time is
censored: it counts as later than all others, never as the whole time.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.privacy.schedule import Schedule
from pausefl.results.intervals import estimate
from pausefl.results.outcomes import smoothed, smoothed_at

#: Target accuracies in [0, 1] that times are told to.
TARGETS = (0.6, 0.7, 0.8, 0.85)

#: Largest budgets spent, epsilon per coordinate, at which accuracies are told.
BUDGETS = (2.0, 4.0, 6.0)

#: Bootstrap samples of seeds, and the share of them in which a selector on the front is undominated.
N_SAMPLES, FRONT_SHARE = 1000, 0.8

Floats = NDArray[np.float64]


def in_name(number: float) -> str:
    """A number as names of measures have it: 0.85 is ``85``, the budget 2.5 is ``2_5``."""
    return f"{number:g}".replace(".", "_")


def to_target(run: pd.DataFrame, target: float, time_s: float = math.inf) -> tuple[float, float]:
    """Simulated seconds and rounds until the smoothed accuracy first reaches a target; NaN if not in time."""
    elapsed, accuracy = smoothed(run, "accuracy")
    reached = np.flatnonzero((accuracy >= target) & (elapsed <= time_s))
    if not len(reached):
        return math.nan, math.nan
    seconds = float(elapsed[reached[0]])
    return seconds, float(np.searchsorted(run["elapsed_s"].to_numpy(np.float64), seconds)) + 1


def accuracy_at_budget(run: pd.DataFrame, budget: float, time_s: float = math.inf) -> float:
    """Smoothed accuracy in [0, 1] at the last round in which the largest budget spent is at most ``budget``.

    NaN if it is never more in the time: then the run could go on.
    """
    run = run[run["elapsed_s"] <= time_s]
    over = np.flatnonzero(run["leakage_max"].to_numpy(np.float64) > budget)
    if not len(over) or not over[0]:
        return math.nan
    return smoothed_at(run, "accuracy", float(run["elapsed_s"].iloc[over[0] - 1]))


def participations(run: pd.DataFrame, n_users: int) -> NDArray[np.int64]:
    """How often each user (K,) takes part in the rounds of a table."""
    counts = np.zeros(n_users, np.int64)
    for users in run["selection"]:
        counts[np.unique(users)] += 1
    return counts


def measure(
    run: pd.DataFrame,
    time_s: float,
    n_users: int,
    schedule: Schedule | None = None,
    targets: Sequence[float] = TARGETS,
    budgets: Sequence[float] = BUDGETS,
) -> dict[str, float]:
    """What a run achieves within a simulated time; what it had when it ended, if that was earlier.

    ``accuracy`` then, a trailing mean over ten rounds in [0, 1]; for each target ``seconds_to_80``,
    ``rounds_to_80`` and so on, NaN if it is missed; ``n_rounds`` and ``mean_round_s``. ``spent_max`` and
    ``spent_mean`` of all users, epsilon of what the mechanism protects, infinite without privacy; mean
    ``participations`` of a user, and ``unevenness``, the largest number over that mean; ``spent_even``, what
    the user who spends most had spent if all took part equally often. For each budget ``accuracy_at_2`` and
    so on, as `accuracy_at_budget` returns it.
    """
    within = run[run["elapsed_s"] <= time_s]
    counts, n_rounds = participations(within, n_users), len(within)
    last = within.iloc[-1] if n_rounds else {"leakage_max": 0.0, "leakage_mean": 0.0, "elapsed_s": math.nan}
    found = {
        "accuracy": smoothed_at(run, "accuracy", time_s),
        "n_rounds": n_rounds,
        "mean_round_s": float(last["elapsed_s"]) / max(n_rounds, 1),
        "spent_max": float(last["leakage_max"]),
        "spent_mean": float(last["leakage_mean"]),
        "participations": float(counts.mean()),
        "unevenness": float(counts.max() / counts.mean()) if counts.any() else math.nan,
        "spent_even": math.inf,
    }
    if schedule is not None and math.isfinite(found["spent_max"]):
        found["spent_even"] = float(schedule.spent(np.array([math.ceil(counts.mean())]))[0])
    for target in targets:
        name = in_name(100 * target)
        found[f"seconds_to_{name}"], found[f"rounds_to_{name}"] = to_target(run, target, time_s)
    for budget in budgets:
        found[f"accuracy_at_{in_name(budget)}"] = accuracy_at_budget(run, budget, time_s)
    return found


def censored_median(values: pd.Series) -> float:
    """Median over seeds of a time, where NaN is later than all others; infinite if half of them are."""
    return float(np.median(values.fillna(math.inf)))


def across(runs: pd.DataFrame, first: str, target: float, unranked: Collection[str] = ()) -> pd.DataFrame:
    """One row a selector, in the order of the rows of `measure`, which ``runs`` has one of a run.

    ``selector``, ``n_seeds``; of each measure ``_mean`` and ``_sd`` over seeds that have it, and ``_n``, how
    many have it; of times and rounds to a target `censored_median` as ``_median``. ``difference``: accuracy
    less that of the selector ``first`` under the same seed, its mean, with ``difference_low`` and
    ``difference_high`` of its 95 % interval. ``front``: `front_shares`, NaN of those ``unranked``.
    """
    numbers = [str(name) for name in runs if runs[name].dtype.kind in "if"]
    measures = [name for name in numbers if name != "seed"]
    accuracy = runs.pivot(index="seed", columns="selector", values="accuracy")
    rows = list[dict[str, Any]]()
    for selector, own in runs.groupby("selector", sort=False):
        row: dict[str, Any] = {"selector": selector, "n_seeds": len(own)}
        for name in measures:
            known = own[name].dropna()
            finite = known[np.isfinite(known)]
            row[f"{name}_mean"], row[f"{name}_n"] = known.mean(), len(known)
            row[f"{name}_sd"] = finite.std() if len(finite) == len(known) else math.nan
            if name.startswith(("seconds_to_", "rounds_to_")):
                row[f"{name}_median"] = censored_median(own[name])
        gap = (accuracy[selector] - accuracy[first]).dropna()
        row |= dict(zip(("difference", "difference_low", "difference_high"), estimate(gap), strict=True))
        rows.append(row)
    shares = front_shares(runs[~runs["selector"].isin(unranked)], target)
    return pd.DataFrame(rows).assign(front=lambda table: table["selector"].map(shares))


def front_shares(runs: pd.DataFrame, target: float) -> dict[str, float]:
    """Share of bootstrap samples of seeds in which no other selector is as good in all and better in one.

    Compared are the median time to the target, the mean of the largest budget spent, and the mean accuracy at
    the end. A selector is on the front if its share is at least `FRONT_SHARE`. All selectors have the same
    seeds; without privacy of any, two of the three are compared.
    """
    columns = [f"seconds_to_{in_name(100 * target)}", "spent_max", "accuracy"]
    tables = [runs.pivot(index="seed", columns="selector", values=name).dropna(how="all") for name in columns]
    selectors = list(tables[0].columns)
    time, spent, accuracy = (table.reindex(columns=selectors).to_numpy(np.float64) for table in tables)
    samples = np.random.default_rng(0).integers(len(time), size=(N_SAMPLES, len(time)))
    time = np.where(np.isnan(time), np.inf, time)
    values = [-np.median(time[samples], axis=1), accuracy[samples].mean(axis=1)]
    if np.isfinite(spent).any():
        values.append(-spent[samples].mean(axis=1))
    worth = np.stack(values, axis=-1)  # (samples, selectors, measures), larger is better
    others, own = worth[:, :, np.newaxis], worth[:, np.newaxis]
    better = np.all(others >= own, axis=-1) & np.any(others > own, axis=-1)
    shares = 1 - np.any(better, axis=1).mean(axis=0)
    return dict(zip(selectors, shares.tolist(), strict=True))


def common_time(rounds: Mapping[Any, pd.DataFrame]) -> float:
    """Simulated seconds until which all of some runs last."""
    return min(float(run["elapsed_s"].iloc[-1]) for run in rounds.values())
