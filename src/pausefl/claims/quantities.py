"""Quantities by which claims compare two runs of one seed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from pausefl.claims.records import Run
from pausefl.results.outcomes import smoothed

#: A number of the first run, given the run it is compared with.
Quantity = Callable[[Run, Run], float]


def _outcome(name: str) -> Quantity:
    return lambda run, other: float(run.outcome[name])


def _in_time(column: str) -> Quantity:
    def value(run: Run, other: Run) -> float:
        end = min(run.rounds["elapsed_s"].iloc[-1], other.rounds["elapsed_s"].iloc[-1])
        elapsed, average = smoothed(run.rounds, column)
        before = np.flatnonzero(elapsed <= end)
        return float(average[before[-1]]) if len(before) else math.nan

    return value


final_accuracy = _outcome("final_accuracy")
final_loss = _outcome("final_loss")
mean_round_s = _outcome("mean_round_s")
leakage_max = _outcome("leakage_max")

#: Smoothed accuracy and loss when the shorter of the two runs ends.
accuracy_in_time = _in_time("accuracy")
loss_in_time = _in_time("loss")


def leakage_over_rounds(run: Run, other: Run) -> float:
    """Mean over rounds of the largest leakage of any user."""
    return float(run.rounds["leakage_max"].mean())


def seconds_to_target(run: Run, other: Run) -> float:
    """Simulated seconds to the target accuracy; infinite if never reached, NaN without a target."""
    if math.isnan(run.outcome["target_accuracy"]):
        return math.nan
    seconds = float(run.outcome["seconds_to_target"])
    return math.inf if math.isnan(seconds) else seconds


def loss_over_time(run: Run, other: Run) -> float:
    """Geometric mean of the loss over simulated time, while both runs have one.

    It tells two curves apart that end at the same floor, which the noise of the data sets.
    """
    curves = []
    for each in (run, other):
        evaluated = each.rounds[each.rounds["loss"].notna()]
        curves.append((evaluated["elapsed_s"].to_numpy(np.float64), evaluated["loss"].to_numpy(np.float64)))
    if any(len(elapsed) < 2 for elapsed, _ in curves):
        return math.nan
    start, end = max(t[0] for t, _ in curves), min(t[-1] for t, _ in curves)
    elapsed, loss = curves[0]
    if end <= start or not np.isfinite(loss).all():
        return math.nan if np.isfinite(loss).all() else math.inf
    times = np.concatenate([[start], elapsed[(elapsed > start) & (elapsed < end)], [end]])
    logarithms = np.interp(times, elapsed, np.log(loss))
    return math.exp(float(np.trapezoid(logarithms, times)) / (end - start))


def accuracy_drop(run: Run) -> float:
    """How far the smoothed accuracy falls from its best by the end."""
    return float(run.outcome["best_accuracy"] - run.outcome["final_accuracy"])


def accuracy_rise(run: Run) -> float:
    """How far the smoothed accuracy rises above its first value."""
    accuracy = smoothed(run.rounds, "accuracy")[1]
    return float(accuracy.max() - accuracy[0]) if len(accuracy) else math.nan
