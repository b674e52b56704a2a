"""Quantities by which claims compare two runs of one seed.

Runs of selectors have different numbers of rounds and end at different simulated times. Each quantity is
therefore of what both runs have: the time until the earlier end of the two, or as many rounds as the shorter
one has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pausefl.claims.records import Replicate
from pausefl.claims.statistics import Floats
from pausefl.results.outcomes import smoothed, smoothed_at

#: A number of the first run, given the run it is compared with; or two bounds of it.
Measured = Callable[[Replicate, Replicate], float | tuple[float, float]]


@dataclass(frozen=True)
class Quantity:
    """What the key ``metric`` of a claim test names."""

    of: Measured
    label: str
    """What is measured, in words."""
    unit: str
    """Unit of a difference."""
    factor: float = 1.0
    """Turns the number into that unit."""
    trained: bool = False
    """Whether it needs trained runs; others depend on the selections alone."""
    infinite: str = ""
    """What a run of an infinite value does, for notes."""


#: All quantities by the names of their functions.
QUANTITIES: dict[str, Quantity] = {}


def quantity(label: str, unit: str, **facts: Any) -> Callable[[Measured], Measured]:
    """Decorator that puts a function into `QUANTITIES`."""

    def put(of: Measured) -> Measured:
        QUANTITIES[of.__name__] = Quantity(of, label, unit, **facts)
        return of

    return put


#: The early part of the time that two runs have in common.
EARLY = 0.25


def _times(run: Replicate) -> Floats:
    """Simulated seconds (n,) at the end of each round."""
    return run.rounds["elapsed_s"].to_numpy(np.float64)


def _end(run: Replicate, other: Replicate) -> float:
    """The earlier end of two runs."""
    return float(min(_times(run)[-1], _times(other)[-1]))


def _evaluated(run: Replicate, column: str) -> tuple[Floats, Floats]:
    """Times and values (n,) of the rounds with an evaluation."""
    there = run.rounds[column].notna().to_numpy()
    return _times(run)[there], run.rounds[column].to_numpy(np.float64)[there]


def _over_time(run: Replicate, other: Replicate, column: str, part: float = 1.0, logs: bool = False) -> float:
    """Mean of a curve over the first part of the time in which both runs have evaluations.

    With ``logs`` it is the geometric mean. Infinite if a value in that time is, NaN without a common time.
    """
    (elapsed, values), (theirs, _) = (_evaluated(each, column) for each in (run, other))
    if len(elapsed) < 2 or len(theirs) < 2:
        return math.nan
    start, end = max(elapsed[0], theirs[0]), min(elapsed[-1], theirs[-1])
    end = start + part * (end - start)
    if end <= start:
        return math.nan
    used = int(np.searchsorted(elapsed, end)) + 1
    elapsed, values = elapsed[:used], values[:used]
    if not np.isfinite(values).all():
        return math.inf
    if logs:
        values = np.log(values)
    times = np.concatenate([[start], elapsed[(elapsed > start) & (elapsed < end)], [end]])
    mean = float(np.trapezoid(np.interp(times, elapsed, values), times)) / (end - start)
    return math.exp(mean) if logs else mean


@quantity("accuracy at the earlier end", "points", factor=100, trained=True)
def accuracy_in_time(run: Replicate, other: Replicate) -> float:
    """Smoothed accuracy when the first of the two runs ends."""
    return smoothed_at(run.rounds, "accuracy", _end(run, other))


@quantity("accuracy over the common time", "points", factor=100, trained=True)
def accuracy_over_time(run: Replicate, other: Replicate) -> float:
    """Mean accuracy over the common time."""
    return _over_time(run, other, "accuracy")


@quantity("accuracy over the first quarter of the common time", "points", factor=100, trained=True)
def early_accuracy(run: Replicate, other: Replicate) -> float:
    """Mean accuracy over the first `EARLY` part of the common time."""
    return _over_time(run, other, "accuracy", EARLY)


@quantity("loss at the earlier end", "loss", trained=True, infinite="diverges")
def loss_in_time(run: Replicate, other: Replicate) -> float:
    """Smoothed loss when the first of the two runs ends."""
    return smoothed_at(run.rounds, "loss", _end(run, other))


@quantity("loss over the common time", "loss", trained=True, infinite="diverges")
def loss_over_time(run: Replicate, other: Replicate) -> float:
    """Geometric mean of the loss over the common time.

    It tells two curves apart that end at the same floor, which the noise of the data sets.
    """
    return _over_time(run, other, "loss", logs=True)


@quantity("time to the target", "s", trained=True, infinite="ends before the target")
def seconds_to_target(run: Replicate, other: Replicate) -> float | tuple[float, float]:
    """Simulated seconds to the target accuracy, NaN without a target.

    A run that ends before says only that it takes longer: then, from its end to infinity.
    """
    if math.isnan(run.outcome["target_accuracy"]):
        return math.nan
    seconds = float(run.outcome["seconds_to_target"])
    return (float(_times(run)[-1]), math.inf) if math.isnan(seconds) else seconds


def _common(run: Replicate, other: Replicate) -> int:
    """Number of rounds that both runs have."""
    return min(len(run.rounds), len(other.rounds))


@quantity("mean round", "s")
def mean_round_s(run: Replicate, other: Replicate) -> float:
    """Mean simulated seconds of a round, over the rounds that both runs have."""
    n = _common(run, other)
    return float(_times(run)[n - 1]) / n


@quantity("spread of expected latency in a round", "s")
def latency_spread(run: Replicate, other: Replicate) -> float:
    """Standard deviation of the expected latencies of a round's users, mean over the common rounds.

    Rounds with fewer than two users are left out; NaN without any other.
    """
    users = (np.unique(users) for users in run.rounds["selection"].iloc[: _common(run, other)])
    spreads = [float(run.expected_s[each].std()) for each in users if len(each) > 1]
    return float(np.mean(spreads)) if spreads else math.nan


@quantity("leakage after equally many rounds", "epsilon")
def leakage_after_rounds(run: Replicate, other: Replicate) -> float:
    """Largest leakage of any user after as many rounds as both runs have."""
    return float(run.leakage[_common(run, other) - 1])


@quantity("leakage over equally many rounds", "epsilon")
def leakage_over_rounds(run: Replicate, other: Replicate) -> float:
    """Mean of the largest leakage of any user over the rounds that both runs have."""
    return float(run.leakage[: _common(run, other)].mean())


@quantity("leakage at the earlier end", "epsilon")
def leakage_in_time(run: Replicate, other: Replicate) -> float:
    """Largest leakage of any user when the first of the two runs ends."""
    done = np.searchsorted(_times(run), _end(run, other), side="right")
    return float(run.leakage[done - 1]) if done else 0.0


@quantity("leakage over the common time", "epsilon")
def leakage_over_time(run: Replicate, other: Replicate) -> float:
    """Mean of the largest leakage of any user over the common time; it rises at the end of a round."""
    end = _end(run, other)
    times = np.append(np.minimum(_times(run), end), end)
    return float((run.leakage * np.diff(times)).sum()) / end


def accuracy_drop(run: Replicate) -> float:
    """How far the smoothed accuracy falls from its best by the end."""
    return float(run.outcome["best_accuracy"] - run.outcome["final_accuracy"])


def accuracy_rise(run: Replicate) -> float:
    """How far the smoothed accuracy rises above its first value."""
    accuracy = smoothed(run.rounds, "accuracy")[1]
    return float(accuracy.max() - accuracy[0]) if len(accuracy) else math.nan
