"""Kinds of claim tests on runs. They compare selectors seed by seed, in each scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import model_validator

from pausefl.claims.base import Against, ClaimTest, Group, Margin
from pausefl.claims.comparisons import RATIO, Comparison, NotRunError, Side, joined, wanted_text
from pausefl.claims.quantities import QUANTITIES, accuracy_drop, accuracy_rise
from pausefl.claims.records import Records, Replicate, Replicates
from pausefl.claims.statistics import Floats, gaps, judge, region
from pausefl.registry.selectors import LABELS
from pausefl.settings.scenario import SelectorName
from pausefl.settings.types import Distinct, NonNegative, OneOf

Direction = Annotated[str, OneOf(("lower", "higher"))]


class OnRuns(ClaimTest):
    """A test on the runs of scenarios."""

    scenarios: dict[Group, Distinct[str]]
    """Scenarios whose runs are compared, by scale (`paper`, `demo`); a scenario has one scale.
    Those of the papers as run are under `as_run`: there `sa_pause` is the annealer that the scenario lists,
    and selectors that it does not list are left out."""

    def scenarios_at(self, group: str) -> tuple[str, ...]:
        """All scenarios of a group whose runs the test needs."""
        return self.scenarios.get(group, ())


class OnPairs(OnRuns, Against, Margin):
    """A test that compares the runs of two selectors, or of two scenarios, by a metric."""

    against: Distinct[SelectorName] = ()
    reference: dict[Group, str] = {}
    """By scale (and `as_run`), a scenario whose runs the others are compared with, in place of the same
    scenario; of the same selector unless `against` names others."""
    metric: Annotated[str, OneOf(QUANTITIES)]
    """What is compared: when the first of two runs ends (`_in_time`), over the time until then
    (`_over_time`), or in as many rounds as both have (`_rounds`, `mean_round_s`, `latency_spread`)."""
    gap: Annotated[str, OneOf((RATIO, "difference"))]
    """Whether values are compared by their ratio or their difference."""

    @model_validator(mode="after")
    def _compared_with_something(self) -> Self:
        if not self.against and not self.reference:
            raise ValueError(f"kind = '{self.kind}' needs the key 'against' or 'reference'")
        return self

    def _side(self) -> str:
        """Where the gap should lie, a direction of `pausefl.claims.statistics.region`."""
        raise NotImplementedError

    def scenarios_at(self, group: str) -> tuple[str, ...]:
        """All scenarios of a group whose runs the test needs."""
        own = self.scenarios.get(group, ())
        return (*own, self.reference[group]) if own and group in self.reference else own

    def _questions(self, records: Records, group: str) -> Iterator[Comparison]:
        quantity, limits = QUANTITIES[self.metric], region(self._side(), self.margin, self.gap)
        unit = RATIO if self.gap == RATIO else quantity.unit
        asked = partial(Comparison, self.kind, wanted=wanted_text(*limits, unit), unit=unit, limits=limits)
        for place, name in product(self.scenarios[group], self.selectors):
            other = self.reference.get(group, place)
            rivals = records.acting(other, self.against or (name,))
            for selector, rival in product(records.acting(place, (name,)), rivals):
                sides = (place, selector), (other, rival)
                who, authors = " against ".join(_names(*sides)), self._in_logs(records, *sides)
                yield asked(place, quantity.label, who, subject=selector, authors=authors, sides=sides)

    def _answers(self, records: Records, asked: Comparison) -> Iterator[Comparison]:
        quantity = QUANTITIES[self.metric]
        pairs, facts = paired(records, asked.sides, quantity.trained)
        values = np.array([self._values(*pair) for pair in pairs])
        if np.isnan(values).all():
            raise NotRunError(joined(facts["note"], f"no run has a value of {self.metric}"))
        infinite, notes = np.isinf(values[..., 1]), [facts["note"]]
        for name, n in zip(_names(*asked.sides), infinite.sum(axis=0), strict=True):
            if n:
                notes.append(f"{name} {quantity.infinite} in {n} of {len(values)} seeds")
        if n := infinite.all(axis=1).sum():
            notes.append(f"{n} of {len(values)} seeds decide nothing")
        facts["note"] = joined(*notes)
        judged = judge(gaps(values[:, 0], values[:, 1], self.gap), *asked.limits)
        yield asked.decided(judged, self.gap == RATIO, **facts)

    def _values(self, ours: Replicate, theirs: Replicate) -> Floats:
        """Bounds (2 sides, 2) of what is compared of two runs, in its unit."""
        quantity = QUANTITIES[self.metric]
        values = quantity.of(ours, theirs), quantity.of(theirs, ours)
        return quantity.factor * np.array([np.broadcast_to(value, 2) for value in values])

    def _in_logs(self, records: Records, ours: Side, theirs: Side) -> float:
        """The gap of the authors' own runs; NaN where it is not known."""
        run, other = (records.log(place).get(selector) for place, selector in (ours, theirs))
        if run is None or other is None:
            return math.nan
        values = self._values(run, other)
        ((low, high),) = gaps(values[:1], values[1:], self.gap)
        known = low if low == high else math.nan
        return math.exp(known) if self.gap == RATIO else float(known)


def _names(ours: Side, theirs: Side) -> list[str]:
    """Two selectors in words, with their scenarios if these differ."""
    return [LABELS[name] + ("" if ours[0] == theirs[0] else f" in {at}") for at, name in (ours, theirs)]


class Ordering(OnPairs):
    """A metric is lower (or higher) than that of others by more than the margin."""

    kind: Literal["ordering"]
    direction: Direction
    """Which side the selectors' values are to be on."""
    margin: NonNegative = 0.0

    def _side(self) -> str:
        return self.direction


class Noninferiority(OnPairs):
    """A metric is at most the margin worse than that of others."""

    kind: Literal["noninferiority"]
    direction: Direction
    """Which side the selectors' values are to be on."""

    def _side(self) -> str:
        return {"lower": "not higher", "higher": "not lower"}[self.direction]


class Equivalence(OnPairs):
    """A metric differs from that of others by less than the margin."""

    kind: Literal["equivalence"]

    def _side(self) -> str:
        return "equal"


#: What a `Collapse` is told by.
_MOVES = {"accuracy gained": accuracy_rise, "accuracy lost": accuracy_drop}


class Collapse(OnRuns, Against, Margin):
    """Smoothed accuracy rises and falls by more than the margin (points); that of `against` does not fall."""

    kind: Literal["collapse"]

    def _questions(self, records: Records, group: str) -> Iterator[Comparison]:
        looks = [(selector, topic, "higher") for selector in self.selectors for topic in _MOVES]
        looks += [(selector, "accuracy lost", "not higher") for selector in self.against]
        for place, (selector, topic, side) in product(self.scenarios[group], looks):
            limits, log = region(side, self.margin, "difference"), records.log(place).get(selector)
            authors = math.nan if log is None else 100 * _MOVES[topic](log)
            facts: dict[str, Any] = {"unit": "points", "subject": selector, "authors": authors}
            facts |= {"sides": ((place, selector),), "limits": limits}
            wanted = wanted_text(*limits, "points")
            yield Comparison(self.kind, place, topic, LABELS[selector], wanted, **facts)

    def _answers(self, records: Records, asked: Comparison) -> Iterator[Comparison]:
        pairs, facts = paired(records, asked.sides, trained=True)
        values = [100 * _MOVES[asked.topic](run) for run, _ in pairs]
        yield asked.decided(judge(values, *asked.limits), **facts)


def facts_of(runs: Mapping[tuple[Any, int], Replicate], trained: bool) -> dict[str, Any]:
    """Seeds, names and prints of runs by side (or selector) and seed, as a `Comparison` has them."""
    return {
        "seeds": tuple(sorted({seed for _, seed in runs})),
        "runs": tuple(dict.fromkeys(run.name for run in runs.values())),
        "prints": {key: run.learning if trained else run.selections for key, run in runs.items()},
    }


def stand_ins(runs: Iterable[Replicate]) -> str:
    """A note if some of the runs were not trained."""
    return "" if all(run.is_trained for run in runs) else "selection alone"


def paired(
    records: Records, sides: tuple[Side, ...], trained: bool
) -> tuple[list[tuple[Replicate, Replicate]], dict[str, Any]]:
    """Runs of two sides, or of one with itself, paired by seed; and what a `Comparison` has of them.

    ``trained``: whether what is compared depends on training. `NotRunError` if there is no pair.
    """
    ours, theirs = sides[0], sides[-1]
    runs, others = (_runs(records, *side, trained=trained) for side in (ours, theirs))
    planned = sorted({*runs.seeds[ours[1]]} & {*others.seeds[theirs[1]]})
    if not planned:
        raise NotRunError("no seed in common")
    both = {seed: (runs.found.get((ours[1], seed)), others.found.get((theirs[1], seed))) for seed in planned}
    pairs = {seed: (run, other) for seed, (run, other) in both.items() if run and other}
    absent = len(planned) - len(pairs)
    missing = f"missing runs: {absent} of {len(planned)} seeds left out" if absent else ""
    if not pairs:
        raise NotRunError(missing)
    if trained:
        pairs = {seed: pair for seed, pair in pairs.items() if not stand_ins(pair)}
        if not pairs:
            raise NotRunError("nothing was trained")
    used = {(side, seed): pair[side] for side in range(len(sides)) for seed, pair in pairs.items()}
    note = joined(stand_ins(used.values()), missing)
    return list(pairs.values()), facts_of(used, trained) | {"n_missing": absent, "note": note}


def _runs(records: Records, place: str, selector: str = "", trained: bool = False) -> Replicates:
    """The runs of a scenario, trained ones or any; `NotRunError` if it has none (of a selector)."""
    runs = records.trained(place) if trained else records.selected(place)
    if runs is not None and (not selector or selector in runs.seeds):
        return runs
    alone = records.selected(place) if trained else None
    if alone is not None and selector in alone.seeds:
        raise NotRunError("selection alone: nothing was trained")
    missing = f"scenario {place}" if runs is None else f"{selector} of {place}"
    raise NotRunError(f"{missing} is not in the experiment table")


OnRunsTest = (
    Ordering  # the order of the reference, config/README.md
    | Noninferiority
    | Equivalence
    | Collapse
)
