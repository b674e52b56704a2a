"""Kinds of claim tests on runs. They compare selectors seed by seed, in each scenario."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from pausefl.analysis.metrics import METRICS
from pausefl.analysis.outcomes import smoothed
from pausefl.analysis.statistics import gaps, judge, region
from pausefl.analysis.trajectories import Trajectory
from pausefl.reproduction.claims.base import Against, ClaimTest, Group, Margin
from pausefl.reproduction.claims.comparison_result import RATIO, Comparison, joined_notes, wanted_text
from pausefl.reproduction.claims.records import Records
from pausefl.schema.types import Distinct, OneOf
from pausefl.selectors import LABELS

#: Scenario and selector.
Side = tuple[str, str]

Direction = Annotated[
    str,
    OneOf(("lower", "higher")),
    Field(description="Which side the selectors' values are to be on."),
]


class RunTest(ClaimTest):
    """A test on the runs of scenarios."""

    scenarios: dict[Group, Distinct[str]]
    """Scenarios whose runs are compared, by scale (`paper`, `demo`); a scenario has one scale.
    Those of the papers as run are under `as_run`: there `sa_pause` is the annealer that the scenario lists,
    and selectors that it does not list are left out."""

    def scenarios_at(self, group: str) -> tuple[str, ...]:
        """All scenarios of a group whose runs the test needs."""
        return self.scenarios.get(group, ())


class PairTest(RunTest):
    """A test that compares the runs of two selectors, or of two scenarios, by a metric."""

    against: Against = ()
    reference: dict[Group, str] = {}
    """By scale (and `as_run`), a scenario whose runs the others are compared with, in place of the same
    scenario; of the same selector unless `against` names others."""
    metric: Annotated[str, OneOf(METRICS)]
    """What is compared: when the first of two runs ends (`_in_time`), over the time until then
    (`_over_time`), or in as many rounds as both have (`_rounds`, `mean_round_s`, `latency_spread`)."""
    gap: Annotated[str, OneOf((RATIO, "difference"))]
    """Whether values are compared by their ratio or their difference."""
    margin: Margin

    @model_validator(mode="after")
    def _compared_with_something(self) -> Self:
        if not self.against and not self.reference:
            raise ValueError(f"kind = '{self.kind}' needs the key 'against' or 'reference'")
        return self

    def scenarios_at(self, group: str) -> tuple[str, ...]:
        """All scenarios of a group whose runs the test needs."""
        own = self.scenarios.get(group, ())
        return (*own, self.reference[group]) if own and group in self.reference else own

    def _side(self) -> str:
        """Where the gap should lie: a direction of `pausefl.analysis.statistics.region`."""
        raise NotImplementedError

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Yield a comparison for each scenario, selector and rival."""
        for place, name in product(self.scenarios[group], self.selectors):
            other = self.reference.get(group, place)
            ours, theirs = records.acting(place, (name,)), records.acting(other, self.against or (name,))
            for selector, rival in product(ours, theirs):
                yield self._pair(records, (place, selector), (other, rival))

    def _pair(self, records: Records, ours: Side, theirs: Side) -> Comparison:
        metric, ratio = METRICS[self.metric], self.gap == RATIO
        apart = ours[0] != theirs[0]  # then scenarios are named
        names = [LABELS[name] + (f" in {at}" if apart else "") for at, name in (ours, theirs)]
        limits, unit = region(self._side(), self.margin, ratio), RATIO if ratio else metric.unit
        who, wanted = " against ".join(names), wanted_text(*limits, unit)
        facts: dict[str, Any] = {"unit": unit, "subject": ours[1]}
        facts["authors"] = self._logged(records, ours, theirs)
        asked = Comparison(self.kind, ours[0], metric.label, who, wanted, **facts)
        pairs, made = matched(records, asked, (ours, theirs), metric.trained, metric.timed)
        if not pairs:
            return made
        values = np.array([metric.values(*pair) for pair in pairs])
        if np.isnan(values).all():
            return replace(asked, note=joined_notes(made.note, f"no run has a value of {self.metric}"))
        infinite, of = np.isinf(values[..., 1]), f"of {len(values)} seeds"
        ends = zip(names, infinite.sum(axis=0), strict=True)
        notes = [f"{name} {metric.infinite} in {n} {of}" for name, n in ends if n]
        if n := infinite.all(axis=1).sum():
            notes.append(f"{n} {of} decide nothing")
        decision = judge(gaps(values[:, 0], values[:, 1], ratio), *limits)
        return made.decided(decision, note=joined_notes(made.note, *notes))

    def _logged(self, records: Records, ours: Side, theirs: Side) -> float:
        """The gap of the authors' own runs; NaN where it is not known."""
        run, other = (records.log(*side) for side in (ours, theirs))
        if run is None or other is None:
            return math.nan
        values = METRICS[self.metric].values(run, other)
        ((low, high),) = gaps(values[:1], values[1:], self.gap == RATIO)
        known = float(low) if low == high else math.nan
        return math.exp(known) if self.gap == RATIO else known


class Ordering(PairTest):
    """A metric is lower (or higher) than that of others by more than the margin."""

    kind: Literal["ordering"]
    direction: Direction
    margin: Margin = 0.0

    def _side(self) -> str:
        return self.direction


class Noninferiority(PairTest):
    """A metric is at most the margin worse than that of others."""

    kind: Literal["noninferiority"]
    direction: Direction

    def _side(self) -> str:
        return {"lower": "not higher", "higher": "not lower"}[self.direction]


class Equivalence(PairTest):
    """A metric differs from that of others by less than the margin."""

    kind: Literal["equivalence"]

    def _side(self) -> str:
        return "equal"


class Collapse(RunTest):
    """Smoothed accuracy rises and falls by more than the margin (points); that of `against` does not fall."""

    kind: Literal["collapse"]
    against: Against
    margin: Margin

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Yield what each selector gains and loses, and what each of the others loses."""
        looks = [(one, what, "higher") for one in self.selectors for what in _CHANGES]
        looks += [(one, "accuracy lost", "not higher") for one in self.against]
        for place, (selector, topic, side) in product(self.scenarios[group], looks):
            change, log = _CHANGES[topic], records.log(place, selector)
            limits = region(side, self.margin, ratio=False)
            wanted, authors = wanted_text(*limits, "points"), math.nan if log is None else change(log)
            facts: dict[str, Any] = {"unit": "points", "subject": selector, "authors": authors}
            asked = Comparison(self.kind, place, topic, LABELS[selector], wanted, **facts)
            runs, made = matched(records, asked, [(place, selector)], trained=True, timed=False)
            yield made.decided(judge([change(run) for (run,) in runs], *limits)) if runs else made


def _gained(run: Trajectory) -> float:
    """How far the smoothed accuracy rises above its first value, in points."""
    accuracy = smoothed(run.rounds, "accuracy")[1]
    return 100 * float(accuracy.max() - accuracy[0]) if len(accuracy) else math.nan


def _lost(run: Trajectory) -> float:
    """How far the smoothed accuracy falls from its best by the end, in points."""
    return 100 * float(run.outcome["best_accuracy"] - run.outcome["final_accuracy"])


_CHANGES = {"accuracy gained": _gained, "accuracy lost": _lost}


def matched(
    records: Records, asked: Comparison, sides: Sequence[Side], trained: bool, timed: bool
) -> tuple[list[tuple[Trajectory, ...]], Comparison]:
    """Runs of all sides under each seed that they have in common, and the comparison that names these runs.

    ``trained`` and ``timed``: whether what is compared depends on training and on simulated time. Without
    runs, the comparison says why.
    """
    of_sides = [records.runs(*side, trained) for side in sides]
    for (place, selector), runs in zip(sides, of_sides, strict=True):
        if not runs:
            return [], replace(asked, note=f"{selector} of {place} is not in the experiment table")
    planned = sorted(set.intersection(*(set(runs) for runs in of_sides)))
    rows = {seed: [run for runs in of_sides if (run := runs[seed])] for seed in planned}
    pairs = {seed: tuple(row) for seed, row in rows.items() if len(row) == len(sides)}
    absent = len(planned) - len(pairs)
    missing = f"missing runs: {absent} of {len(planned)} seeds left out" if absent else ""
    if not pairs:
        return [], replace(asked, note=missing or "no seed in common")
    by_side = {(i, seed): pairs[seed][i] for i, seed in product(range(len(sides)), pairs)}
    alone = "" if all(run.is_trained for run in by_side.values()) else "selection alone"
    return list(pairs.values()), replace(
        asked,
        seeds=tuple(pairs),
        runs=tuple(dict.fromkeys(run.name for run in by_side.values())),
        n_missing=absent,
        note=joined_notes(alone, missing),
        prints={key: run.digest(trained, timed) for key, run in by_side.items()},
    )


RunTests = (
    Ordering  # the order of the reference, config/README.md
    | Noninferiority
    | Equivalence
    | Collapse
)
