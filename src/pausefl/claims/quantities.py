"""What two runs of one seed are compared by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pausefl.claims.records import Run
from pausefl.results.outcomes import smoothed


class Metric(NamedTuple):
    """A number of a run, given the run that it is compared with, and its unit."""

    unit: str
    value: Callable[[Run, Run], float]


def _outcome(name: str) -> Callable[[Run, Run], float]:
    """A number of the outcome."""
    return lambda run, other: float(run.outcome[name])


def _seconds_to_target(run: Run, other: Run) -> float:
    """Infinite if the target is never reached, not a number if there is no target."""
    if math.isnan(run.outcome["target_accuracy"]):
        return math.nan
    seconds = float(run.outcome["seconds_to_target"])
    return math.inf if math.isnan(seconds) else seconds


def accuracy_drop(run: Run) -> float:
    """How far the smoothed accuracy has fallen from its best by the end."""
    return float(run.outcome["best_accuracy"] - run.outcome["final_accuracy"])


def accuracy_rise(run: Run) -> float:
    """How far the smoothed accuracy rises above what it was first."""
    accuracy = smoothed(run.rounds, "accuracy")[1]
    return float(accuracy.max() - accuracy[0]) if len(accuracy) else math.nan


def _in_time(column: str) -> Callable[[Run, Run], float]:
    """The smoothed column when the first of the two runs ends."""

    def value(run: Run, other: Run) -> float:
        end = min(run.rounds["elapsed_s"].iloc[-1], other.rounds["elapsed_s"].iloc[-1])
        elapsed, average = smoothed(run.rounds, column)
        before = np.flatnonzero(elapsed <= end)
        return float(average[before[-1]]) if len(before) else math.nan

    return value


def _loss_over_time(run: Run, other: Run) -> float:
    """Geometric mean of the loss over simulated time, from when both runs have one until the first ends.

    A curve below another all the way has less, also where both end at the floor that noise in the data sets.
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


METRICS = {
    "final_accuracy": Metric("share", _outcome("final_accuracy")),
    "final_loss": Metric("loss", _outcome("final_loss")),
    "accuracy_in_time": Metric("share", _in_time("accuracy")),
    "loss_in_time": Metric("loss", _in_time("loss")),
    "loss_over_time": Metric("loss", _loss_over_time),
    "seconds_to_target": Metric("s", _seconds_to_target),
    "mean_round_s": Metric("s", _outcome("mean_round_s")),
    "leakage_max": Metric("epsilon", _outcome("leakage_max")),
    "leakage_over_rounds": Metric("epsilon", lambda run, other: float(run.rounds["leakage_max"].mean())),
}
