"""Metrics by which claims compare two runs of one seed.

Runs of selectors have different numbers of rounds and end at different simulated times. Each metric is
therefore of what both runs have: the time until the earlier end of the two, or as many rounds as the shorter
one has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pausefl.analysis.measures import (
    BUDGETS,
    MORE_TARGETS,
    accuracy_at_budget,
    in_name,
    participations,
    to_target,
)
from pausefl.analysis.outcomes import smoothed_at
from pausefl.analysis.statistics import Floats
from pausefl.analysis.trajectories import Trajectory

#: The early part of the time that two runs have in common.
EARLY = 0.25


@dataclass(frozen=True)
class Metric:
    """What the key ``metric`` of a claim test names."""

    of: Callable[[Trajectory, Trajectory], float | tuple[float, float]]
    """A number of the first run, given the run it is compared with; or two bounds of it."""
    label: str
    """What is measured, in words."""
    unit: str
    """Unit of a difference."""
    factor: float = 1.0
    """Turns the number into that unit."""
    trained: bool = False
    """Whether it needs trained runs; others depend on the selections alone."""
    timed: bool = True
    """Whether simulated time counts."""
    infinite: str = ""
    """What a run of an infinite value does, for notes."""

    def values(self, ours: Trajectory, theirs: Trajectory) -> Floats:
        """Bounds (2 runs, 2) of what is compared of two runs, in its unit."""
        values = self.of(ours, theirs), self.of(theirs, ours)
        return self.factor * np.array([np.broadcast_to(value, 2) for value in values])


def _times(run: Trajectory) -> Floats:
    """Simulated seconds (n,) at the end of each round."""
    return run.rounds["elapsed_s"].to_numpy(np.float64)


def _end(run: Trajectory, other: Trajectory) -> float:
    """The earlier end of two runs."""
    return float(min(_times(run)[-1], _times(other)[-1]))


def _common(run: Trajectory, other: Trajectory) -> slice:
    """The rounds that both runs have."""
    return slice(min(len(run.rounds), len(other.rounds)))


def _at_end(column: str, run: Trajectory, other: Trajectory) -> float:
    """The smoothed curve when the first of the two runs ends."""
    return smoothed_at(run.rounds, column, _end(run, other))


def _over_time(
    column: str, run: Trajectory, other: Trajectory, part: float = 1.0, logs: bool = False
) -> float:
    """Mean of a curve over the first part of the time in which both runs have evaluations.

    With ``logs`` it is the geometric mean. Infinite if a value in that time is, NaN without a common time.
    """
    there, theirs = (each.rounds[column].notna().to_numpy() for each in (run, other))
    elapsed, values = _times(run)[there], run.rounds[column].to_numpy(np.float64)[there]
    others = _times(other)[theirs]
    if len(elapsed) < 2 or len(others) < 2:
        return math.nan
    start, end = max(elapsed[0], others[0]), min(elapsed[-1], others[-1])
    end = start + part * (end - start)
    if end <= start:
        return math.nan
    used = int(np.searchsorted(elapsed, end)) + 1
    elapsed, values = elapsed[:used], values[:used]
    if not np.isfinite(values).all():
        return math.inf
    values = np.log(values) if logs else values
    times = np.concatenate([[start], elapsed[(elapsed > start) & (elapsed < end)], [end]])
    mean = float(np.trapezoid(np.interp(times, elapsed, values), times)) / (end - start)
    return math.exp(mean) if logs else mean


def seconds_to_target(run: Trajectory, other: Trajectory) -> float | tuple[float, float]:
    """Simulated seconds to the target accuracy, NaN without a target.

    A run that ends before says only that it takes longer: then, from its end to infinity.
    """
    if math.isnan(run.outcome["target_accuracy"]):
        return math.nan
    seconds = float(run.outcome["seconds_to_target"])
    return (float(_times(run)[-1]), math.inf) if math.isnan(seconds) else seconds


def _to(target: float, rounds: bool, run: Trajectory, other: Trajectory) -> tuple[float, float]:
    """Seconds or rounds to an accuracy; of a run that ends before, from its end to infinity."""
    seconds, n_rounds = to_target(run.rounds, target)
    reached, end = (n_rounds, len(run.rounds)) if rounds else (seconds, float(_times(run)[-1]))
    return (end, math.inf) if math.isnan(reached) else (reached, reached)


def rounds_to_target(run: Trajectory, other: Trajectory) -> float | tuple[float, float]:
    """Rounds to the target accuracy, as `seconds_to_target`."""
    target = float(run.outcome["target_accuracy"])
    return math.nan if math.isnan(target) else _to(target, True, run, other)


def round_s_to_target(run: Trajectory, other: Trajectory) -> float:
    """Mean simulated seconds of the rounds up to the target accuracy; NaN if it is never reached."""
    seconds, n_rounds = to_target(run.rounds, float(run.outcome["target_accuracy"]))
    return seconds / n_rounds


def _at_budget(budget: float, run: Trajectory, other: Trajectory) -> float:
    """Accuracy when the largest budget spent is about to exceed one; NaN if it never does."""
    return accuracy_at_budget(run.rounds, budget)


def _spent_mean(run: Trajectory, other: Trajectory) -> float:
    """Mean budget spent of all users when the first of the two runs ends."""
    within = run.rounds[_times(run) <= _end(run, other)]
    return float(within["leakage_mean"].iloc[-1]) if len(within) else 0.0


def _participations(run: Trajectory, other: Trajectory) -> Floats:
    """How often each user (K,) has taken part when the first of the two runs ends."""
    assert run.network is not None
    return participations(run.rounds[_times(run) <= _end(run, other)], run.network.n_users).astype(np.float64)


def unevenness(run: Trajectory, other: Trajectory) -> float:
    """Participations of the user who takes part most over the mean, when the first of the two runs ends."""
    counts = _participations(run, other)
    return float(counts.max() / counts.mean()) if counts.any() else math.nan


def mean_participations(run: Trajectory, other: Trajectory) -> float:
    """Mean participations of a user when the first of the two runs ends."""
    return float(_participations(run, other).mean())


def mean_round_s(run: Trajectory, other: Trajectory) -> float:
    """Mean simulated seconds of a round, over the rounds that both runs have."""
    times = _times(run)[_common(run, other)]
    return float(times[-1]) / len(times)


def latency_spread(run: Trajectory, other: Trajectory) -> float:
    """Standard deviation of the expected latencies of a round's users, mean over the common rounds.

    Rounds with fewer than two users are left out; NaN without any other.
    """
    users = (np.unique(users) for users in run.rounds["selection"].iloc[_common(run, other)])
    spreads = [float(run.expected_s[each].std()) for each in users if len(each) > 1]
    return float(np.mean(spreads)) if spreads else math.nan


def leakage_after_rounds(run: Trajectory, other: Trajectory) -> float:
    """Largest leakage of any user after as many rounds as both runs have."""
    return float(run.leakage[_common(run, other)][-1])


def leakage_over_rounds(run: Trajectory, other: Trajectory) -> float:
    """Mean of the largest leakage of any user over the rounds that both runs have."""
    return float(run.leakage[_common(run, other)].mean())


def leakage_in_time(run: Trajectory, other: Trajectory) -> float:
    """Largest leakage of any user when the first of the two runs ends."""
    done = np.searchsorted(_times(run), _end(run, other), side="right")
    return float(run.leakage[done - 1]) if done else 0.0


def leakage_over_time(run: Trajectory, other: Trajectory) -> float:
    """Mean of the largest leakage of any user over the common time; it rises at the end of a round."""
    end = _end(run, other)
    spans = np.diff(np.append(np.minimum(_times(run), end), end))
    lasts = spans > 0
    return float((run.leakage[lasts] * spans[lasts]).sum()) / end


_accuracy = partial(Metric, unit="points", factor=100, trained=True)
_loss = partial(Metric, unit="loss", trained=True, infinite="diverges")

#: All metrics. The geometric mean of the loss tells two curves apart that end at the same floor, which the
#: noise of the data sets.
METRICS: dict[str, Metric] = {
    "accuracy_in_time": _accuracy(partial(_at_end, "accuracy"), "accuracy when the shorter run ends"),
    "accuracy_over_time": _accuracy(partial(_over_time, "accuracy"), "accuracy over the common time"),
    "early_accuracy": _accuracy(
        partial(_over_time, "accuracy", part=EARLY), "accuracy over the first quarter of the common time"
    ),
    "loss_in_time": _loss(partial(_at_end, "loss"), "loss when the shorter run ends"),
    "loss_over_time": _loss(partial(_over_time, "loss", logs=True), "loss over the common time"),
    "seconds_to_target": Metric(
        seconds_to_target, "time to the target", "s", trained=True, infinite="ends before the target"
    ),
    "rounds_to_target": Metric(
        rounds_to_target,
        "rounds to the target",
        "rounds",
        trained=True,
        timed=False,
        infinite="ends before the target",
    ),
    "round_s_to_target": Metric(round_s_to_target, "mean round up to the target", "s", trained=True),
    **{
        f"{what}_to_{in_name(100 * target)}": Metric(
            partial(_to, target, what == "rounds"),
            f"{'rounds' if what == 'rounds' else 'time'} to {100 * target:g} %",
            {"seconds": "s", "rounds": "rounds"}[what],
            trained=True,
            timed=what == "seconds",
            infinite=f"ends before {100 * target:g} %",
        )
        for target in MORE_TARGETS
        for what in ("seconds", "rounds")
    },
    **{
        f"accuracy_at_budget_{in_name(budget)}": _accuracy(
            partial(_at_budget, budget), f"accuracy when the largest budget spent is {budget:g}", timed=False
        )
        for budget in BUDGETS
    },
    "mean_round_s": Metric(mean_round_s, "mean round", "s"),
    "latency_spread": Metric(latency_spread, "spread of expected latency in a round", "s", timed=False),
    "leakage_after_rounds": Metric(
        leakage_after_rounds, "largest budget spent after equally many rounds", "epsilon", timed=False
    ),
    "leakage_over_rounds": Metric(
        leakage_over_rounds, "largest budget spent over equally many rounds", "epsilon", timed=False
    ),
    "leakage_in_time": Metric(leakage_in_time, "largest budget spent when the shorter run ends", "epsilon"),
    "spent_mean_in_time": Metric(_spent_mean, "mean budget spent when the shorter run ends", "epsilon"),
    "participations_in_time": Metric(
        mean_participations, "mean participations of a client when the shorter run ends", "participations"
    ),
    "unevenness_in_time": Metric(
        unevenness, "largest participations over their mean when the shorter run ends", "times"
    ),
    "leakage_over_time": Metric(leakage_over_time, "largest budget spent over the common time", "epsilon"),
}
