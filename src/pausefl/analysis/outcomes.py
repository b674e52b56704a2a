"""What each run achieved. Tables, figures and claims share these definitions.

Accuracy and loss are smoothed: a trailing moving average over `WINDOW` rounds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.runs.run import Rounds, runs_of
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario

#: Rounds in the trailing moving average of accuracy and loss.
WINDOW = 10

#: The target accuracy, as a share of the best that private selectors have when the first of them ends.
TARGET_SHARE = 0.9

#: A target says nothing up to this ratio to where the selector starts that starts lowest: then nobody learns.
RISEN = 1.2


def outcomes(rounds: Rounds, target: float | None = None) -> dict[RunId, dict[str, Any]]:
    """The outcome of each run of `pausefl.runs.run.rounds_of`.

    ``target`` is an accuracy in [0, 1]; by default `target_accuracy`.

    Returns
    -------
    dict
        For each run: ``final_accuracy`` (mean of the last 10 rounds, chance level if the model diverged
        before them), ``best_accuracy`` (best 10-round average), ``target_accuracy``; ``final_loss`` (like the
        final accuracy; infinite after divergence); ``elapsed_s``, ``mean_round_s``, ``seconds_to_target`` in
        simulated seconds (the last NaN if never reached); ``leakage_max`` (epsilon at the end). Accuracies
        are NaN for a regression; accuracies and losses are NaN if nothing was trained.
    """
    target = target_accuracy(rounds) if target is None else target
    return {name: _outcome(run, target) for name, run in rounds.items()}


def _outcome(run: pd.DataFrame, target: float) -> dict[str, Any]:
    accuracy = smoothed(run, "accuracy")[1]
    elapsed = float(run["elapsed_s"].iloc[-1])
    return {
        "final_accuracy": _final(run, "accuracy"),
        "best_accuracy": float(accuracy.max()) if len(accuracy) else math.nan,
        "final_loss": _final(run, "loss"),
        "elapsed_s": elapsed,
        "mean_round_s": elapsed / len(run),
        "leakage_max": float(run["leakage_max"].iloc[-1]),
        "seconds_to_target": seconds_to_target(run, target),
        "target_accuracy": target,
    }


def target_accuracy(rounds: Rounds) -> float:
    """Accuracy in [0, 1] that "seconds to target" refers to.

    It is `TARGET_SHARE` of the best smoothed accuracy (mean over seeds) that a selector of finite leakage has
    when the first of them ends under that seed: what one of them reached while all were running, so that no
    run sets a target by lasting longer. Selectors of fixed users do not count: their rounds are far shorter.
    Where that leaves nobody, all selectors count. Of those that count, the ones with the most seeds set the
    target: one lucky run does not. NaN if no run has an accuracy, or the target is hardly above the start
    (`RISEN`).
    """
    runs = list(runs_of(rounds))
    unbounded = {selector for selector, _, run in runs if not np.isfinite(run["leakage_max"]).all()}
    private = {selector for selector, _, _ in runs} - unbounded
    counted = {name for name in private if not (name in SELECTORS and SELECTORS[name].fixed_users)}
    counted = counted or private or {selector for selector, _, _ in runs}
    trained = [each for each in runs if each[0] in counted and each[2]["accuracy"].notna().any()]
    n_seeds = Counter(selector for selector, _, _ in trained)
    most = max(n_seeds.values(), default=0)
    trained = [each for each in trained if n_seeds[each[0]] == most]
    ends: dict[int, float] = {}
    for _, seed, run in trained:
        ends[seed] = min(ends.get(seed, math.inf), float(run["elapsed_s"].iloc[-1]))
    then: dict[str, list[float]] = {}
    for selector, seed, run in trained:
        then.setdefault(selector, []).append(smoothed_at(run, "accuracy", ends[seed]))
    means = [float(np.mean(values)) for values in then.values()]
    target = TARGET_SHARE * max((mean for mean in means if not math.isnan(mean)), default=math.nan)
    first: dict[str, list[float]] = {}
    for selector, _, run in runs:
        first.setdefault(selector, []).extend(run["accuracy"].dropna()[:1])
    starts = [float(np.mean(values)) for values in first.values() if values]
    return target if target > RISEN * min(starts, default=math.nan) else math.nan


def smoothed_at(run: pd.DataFrame, column: str, elapsed_s: float) -> float:
    """The moving average of a column at a time, between evaluations on a straight line; NaN before the first.

    After the last evaluation it is the last value.
    """
    elapsed, average = smoothed(run, column)
    before = int(np.searchsorted(elapsed, elapsed_s, side="right")) - 1
    if before < 0:
        return math.nan
    if before + 1 == len(elapsed) or elapsed[before] == elapsed_s:
        return float(average[before])
    return float(np.interp(elapsed_s, elapsed[before : before + 2], average[before : before + 2]))


def seconds_to_target(run: pd.DataFrame, target: float) -> float:
    """Simulated seconds until the smoothed accuracy first reaches ``target``; NaN if never."""
    elapsed, accuracy = smoothed(run, "accuracy")
    reached = np.flatnonzero(accuracy >= target)
    return float(elapsed[reached[0]]) if len(reached) else math.nan


def smoothed(
    run: pd.DataFrame, column: str, window: int = WINDOW
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Simulated seconds and moving average of ``accuracy`` or a loss of one run, at its evaluations (n,)."""
    values = run[column].to_numpy(dtype=np.float64)
    evaluated = ~np.isnan(values)
    elapsed = run["elapsed_s"].to_numpy(dtype=np.float64)
    return elapsed[evaluated], moving_average(values, window)[evaluated]


def moving_average(values: NDArray[np.float64], window: int = WINDOW) -> NDArray[np.float64]:
    """Trailing mean (n,) over at most ``window`` of ``values`` (n,) that are not NaN; NaN without any.

    Computed window by window: a running sum would carry the rounding error of one huge loss into all later
    rounds.
    """
    padded = np.concatenate([np.full(window - 1, np.nan), np.asarray(values, dtype=np.float64)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, window)
    counts = np.sum(~np.isnan(windows), axis=1)
    sums = np.nansum(windows, axis=1)
    averages: NDArray[np.float64] = np.divide(
        sums, counts, out=np.full(len(counts), np.nan), where=counts > 0
    )
    return averages


def _final(run: pd.DataFrame, column: str) -> float:
    """Last value of the moving average; NaN if there is none."""
    average = smoothed(run, column)[1]
    return float(average[-1]) if len(average) else math.nan


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
    spent = counts if scenario.privacy is None else scenario.privacy.make_account().spent(counts)
    total = counts.sum()
    return {
        "fairness": jain(spent.astype(np.float64)),
        "slow_share": float(counts[n_users // 2 :].sum() / total) if total else math.nan,
    }
