"""Kinds of claim tests on runs. They compare selectors seed by seed, in each scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.claims.base import Against, ClaimTest, Group, Margin, Selectors
from pausefl.claims.comparisons import RATIO, Comparison, NotRunError, Question, joined, wanted_text
from pausefl.claims.quantities import QUANTITIES, accuracy_drop, accuracy_rise
from pausefl.claims.records import Records, Replicate, Replicates
from pausefl.claims.statistics import Floats, gaps, judge, region
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.registry.selectors import LABELS
from pausefl.settings import PrivacySettings
from pausefl.settings.scenario import SelectorName
from pausefl.settings.types import Distinct, NonNegative, OneOf

#: Leakages that differ by at most this share of the budget are equal.
ROUNDING = 1e-9

#: Accuracy from 0 to 1 in percentage points.
POINTS = 100

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

    @property
    def side(self) -> str:
        """Where the gap should lie, a direction of `pausefl.claims.statistics.region`."""
        raise NotImplementedError

    def scenarios_at(self, group: str) -> tuple[str, ...]:
        """All scenarios of a group whose runs the test needs."""
        own = self.scenarios.get(group, ())
        return (*own, self.reference[group]) if own and group in self.reference else own

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Compare each selector with each other one."""
        quantity = QUANTITIES[self.metric]
        unit = RATIO if self.gap == RATIO else quantity.unit
        low, high = region(self.side, self.margin, self.gap)
        for sides in self._sides(records, group):
            (place, selector), (other, _) = sides
            names = [LABELS[name] + ("" if place == other else f" in {at}") for at, name in sides]
            text = f"{quantity.label}: {' against '.join(names)}"
            with Question(self.kind, place, text, wanted_text(low, high, unit)) as question:
                found = paired(records, *sides, trained=quantity.trained)
                values = np.array([self._values(*pair) for pair in found.pairs])
                if np.isnan(values).all():
                    raise NotRunError(joined(found.note, f"no run has a value of {self.metric}"))
                judged = judge(gaps(values[:, 0], values[:, 1], self.gap), low, high)
                facts = found.facts("ours", "theirs", trained=quantity.trained)
                facts["note"] = joined(found.note, *_unknown(quantity.infinite, names, values))
                question.decide(judged, self.gap, unit=unit, **facts)
            authors = self._in_logs(records, *sides)
            yield replace(question.answer, subject=selector, unit=unit, authors=authors)

    def _sides(self, records: Records, group: str) -> Iterator[tuple[Side, Side]]:
        """Yield what is compared with what."""
        for place, name in product(self.scenarios[group], self.selectors):
            other = self.reference.get(group, place)
            rivals = records.acting(other, self.against or (name,))
            for selector, theirs in product(records.acting(place, (name,)), rivals):
                yield (place, selector), (other, theirs)

    def _values(self, ours: Replicate, theirs: Replicate) -> Floats:
        """Bounds (2 sides, 2) of what is compared of two runs, in its unit."""
        quantity = QUANTITIES[self.metric]
        return quantity.factor * np.array(
            [_bounds(quantity.of(ours, theirs)), _bounds(quantity.of(theirs, ours))]
        )

    def _in_logs(self, records: Records, ours: Side, theirs: Side) -> float:
        """The gap of the authors' own runs; NaN where it is not known."""
        runs = [records.log(place).get(selector) for place, selector in (ours, theirs)]
        if runs[0] is None or runs[1] is None:
            return math.nan
        values = self._values(runs[0], runs[1])
        ((low, high),) = gaps(values[:1], values[1:], self.gap)
        known = low if low == high else math.nan
        return math.exp(known) if self.gap == RATIO else float(known)


def _bounds(value: float | tuple[float, float]) -> tuple[float, float]:
    return value if isinstance(value, tuple) else (value, value)


def _unknown(infinite: str, names: Sequence[str], values: Floats) -> Iterator[str]:
    """Notes on values (n, 2 sides, 2 bounds) that are infinite or only bounded."""
    for name, (_, high) in zip(names, values.transpose(1, 2, 0), strict=True):
        if n := int(np.isinf(high).sum()):
            yield f"{name} {infinite} in {n} of {len(values)} seeds"
    if (undecided := np.isinf(values[..., 1]).all(axis=1)).any():
        yield f"{undecided.sum()} of {len(values)} seeds decide nothing"


class Ordering(OnPairs):
    """A metric is lower (or higher) than that of others by more than the margin."""

    kind: Literal["ordering"]
    direction: Direction
    """Which side the selectors' values are to be on."""
    margin: NonNegative = 0.0

    @property
    def side(self) -> str:
        """The direction."""
        return self.direction


class Noninferiority(OnPairs):
    """A metric is at most the margin worse than that of others."""

    kind: Literal["noninferiority"]
    direction: Direction
    """Which side the selectors' values are to be on."""

    @property
    def side(self) -> str:
        """Not the other direction."""
        return {"lower": "not higher", "higher": "not lower"}[self.direction]


class Equivalence(OnPairs):
    """A metric differs from that of others by less than the margin."""

    kind: Literal["equivalence"]

    @property
    def side(self) -> str:
        """Neither."""
        return "equal"


class Collapse(OnRuns, Against, Margin):
    """Smoothed accuracy rises and falls by more than the margin (points); that of `against` does not fall."""

    kind: Literal["collapse"]

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Look at each selector's rise and fall."""
        gained, lost = ("accuracy gained", accuracy_rise), ("accuracy lost", accuracy_drop)
        looks = [(selector, *look, "higher") for selector in self.selectors for look in (gained, lost)]
        looks += [(selector, *lost, "not higher") for selector in self.against]
        for place, (selector, what, value, side) in product(self.scenarios[group], looks):
            low, high = region(side, self.margin, "difference")
            wanted = wanted_text(low, high, "points")
            with Question(self.kind, place, f"{what}: {LABELS[selector]}", wanted) as question:
                found = paired(records, (place, selector), (place, selector), trained=True)
                judged = judge(np.array([POINTS * value(run) for run, _ in found.pairs]), low, high)
                question.decide(judged, unit="points", **found.facts("ours", trained=True))
            log = records.log(place).get(selector)
            authors = math.nan if log is None else POINTS * value(log)
            yield replace(question.answer, subject=selector, unit="points", authors=authors)


class Bound(OnRuns):
    """No private run leaks more than the budget in any round, as counted again and in the ledger."""

    kind: Literal["bound"]

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Look at all private runs of each scenario."""
        for place in self.scenarios[group]:
            with Question(self.kind, place, "largest leakage of any user", "≤ 1 of the budget") as question:
                runs = _selected(records, place)
                privacy = runs.scenario.privacy
                private = {key: run for key, run in runs.found.items() if SELECTORS[key[0]].private}
                if privacy is None or not private:
                    raise NotRunError("no private run is there")
                highest, wrong = 0.0, []
                for (selector, seed), run in private.items():
                    ledger, counted = run.leakage, recounted(run, privacy)
                    highest = max(highest, *ledger, *counted)
                    if np.abs(ledger - counted).max() > ROUNDING * privacy.epsilon_total:
                        wrong.append(f"{selector}/seed-{seed}")
                share = highest / privacy.epsilon_total
                planned = sum(len(seeds) for name, seeds in runs.seeds.items() if SELECTORS[name].private)
                question.settle(
                    share <= 1 + ROUNDING and not wrong,
                    share,
                    unit="of the budget",
                    n_missing=planned - len(private),
                    note=joined(
                        stand_ins(private.values()),
                        f"the ledger and the selections disagree: {', '.join(wrong)}" if wrong else "",
                    ),
                    **facts_of(private, trained=False),
                )
            yield question.answer


def recounted(run: Replicate, privacy: PrivacySettings) -> Floats:
    """Largest leakage (n,) of any user after each round, computed from the selections alone."""
    selections: Sequence[NDArray[np.int64]] = list(run.rounds["selection"])
    counts = np.zeros(1 + max((int(s.max()) for s in selections if len(s)), default=0), np.int64)
    most = []
    for selection in selections:
        counts[np.asarray(selection, np.int64)] += 1  # once, also if a user is there twice
        most.append(int(counts.max()))
    return _partial_sums(privacy, max(most))[most]


def _partial_sums(privacy: PrivacySettings, n: int) -> Floats:
    """Budget spent after 0 .. n participations (n + 1,)."""
    budgets = make_schedule(privacy).epsilon(np.arange(1, n + 1))
    return np.concatenate([[0.0], np.cumsum(budgets)])


class Coincidence(OnRuns, Against):
    """Leakage is the same in every round: the sum of the budgets of as many participations."""

    kind: Literal["coincidence"]

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Compare each selector with each other one, and with the sum of the budgets."""
        wanted = f"≤ {ROUNDING:g} of the budget"
        for place, ours, theirs in product(self.scenarios[group], self.selectors, self.against):
            for sides, text in (
                (SIDES, f"difference of leakage in any round: {LABELS[ours]} against {LABELS[theirs]}"),
                (SIDES[:1], f"difference to the sum of the budgets in any round: {LABELS[ours]}"),
            ):
                with Question(self.kind, place, text, wanted) as question:
                    found = paired(records, (place, ours), (place, theirs), trained=False)
                    privacy = _selected(records, place).scenario.privacy
                    if privacy is None:
                        raise NotRunError("no budget")
                    apart = 0.0
                    for run, other in found.pairs:
                        n = min(len(run.leakage), len(other.leakage))
                        if sides == SIDES:
                            gap = run.leakage[:n] - other.leakage[:n]
                        else:
                            gap = run.leakage - _partial_sums(privacy, len(run.leakage))[1:]
                        apart = max(apart, float(np.abs(gap).max()))
                    share = apart / privacy.epsilon_total
                    question.settle(share <= ROUNDING, share, unit="of the budget", **found.certain(*sides))
                yield question.answer


class EveryoneFirst(OnRuns, Selectors):
    """The first K/m rounds take no user twice, under every seed."""

    kind: Literal["everyone_first"]

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Look at each selector's first rounds."""
        for place, selector in self._acting(records, group):
            text = f"users taken once in the first rounds: {LABELS[selector]}"
            with Question(self.kind, place, text, "all of them") as question:
                found = paired(records, (place, selector), (place, selector), trained=False)
                network = _selected(records, place).scenario.network
                m, n_rounds = network.n_selected, network.n_users // network.n_selected
                taken = [
                    np.concatenate(list(run.rounds["selection"].iloc[:n_rounds])) for run, _ in found.pairs
                ]
                share = min(len(np.unique(users)) for users in taken) / (n_rounds * m)
                note = f"{n_rounds} rounds of {m} of {network.n_users} users; the least of all seeds"
                question.settle(share == 1, share, unit="of the users", **found.certain("ours", note=note))
            yield question.answer

    def _acting(self, records: Records, group: str) -> Iterator[Side]:
        for place in self.scenarios[group]:
            yield from product([place], records.acting(place, self.selectors))


#: Scenario and selector.
Side = tuple[str, str]
SIDES = ("ours", "theirs")


@dataclass(frozen=True)
class Paired:
    """Pairs of runs, one of each side."""

    seeds: tuple[int, ...]
    pairs: list[tuple[Replicate, Replicate]]
    n_missing: int
    """Number of other seeds of both, for which a run is missing."""
    note: str

    def runs(self, *sides: str) -> dict[tuple[str, int], Replicate]:
        """The runs of one of `SIDES`, or of both, by side and seed."""
        return {
            (side, seed): pair[SIDES.index(side)]
            for side in sides
            for seed, pair in zip(self.seeds, self.pairs, strict=True)
        }

    def facts(self, *sides: str, trained: bool) -> dict[str, Any]:
        """What a `Comparison` has of them."""
        return facts_of(self.runs(*sides), trained) | {"n_missing": self.n_missing, "note": self.note}

    def certain(self, *sides: str, note: str = "") -> dict[str, Any]:
        """The same, seed by seed, where nothing is estimated and nothing trained is needed."""
        runs = dict(sorted(self.runs(*sides).items(), key=lambda run: run[0][1]))
        note = joined(stand_ins(runs.values()), note)
        return facts_of(runs, trained=False) | {"n_missing": self.n_missing, "note": note}


def facts_of(runs: Mapping[tuple[str, int], Replicate], trained: bool) -> dict[str, Any]:
    """Seeds, names and prints of runs by side (or selector) and seed, as a `Comparison` has them."""
    return {
        "seeds": tuple(sorted({seed for _, seed in runs})),
        "runs": tuple(dict.fromkeys(run.name for run in runs.values())),
        "prints": {key: run.learning if trained else run.selections for key, run in runs.items()},
    }


def stand_ins(runs: Iterable[Replicate]) -> str:
    """A note if some of the runs were not trained."""
    return "" if all(run.is_trained for run in runs) else "selection alone"


def paired(records: Records, ours: Side, theirs: Side, trained: bool) -> Paired:
    """Pair the runs of two sides by seed, trained ones or any; `NotRunError` if there is no pair."""
    a, b = (_of_side(records, side, trained) for side in (ours, theirs))
    planned = sorted(set(a.seeds[ours[1]]) & set(b.seeds[theirs[1]]))
    if not planned:
        raise NotRunError("no seed in common")
    both = {seed: (a.found.get((ours[1], seed)), b.found.get((theirs[1], seed))) for seed in planned}
    pairs = {seed: (one, other) for seed, (one, other) in both.items() if one and other}
    absent = len(planned) - len(pairs)
    missing = f"missing runs: {absent} of {len(planned)} seeds left out" if absent else ""
    if not pairs:
        raise NotRunError(missing)
    if trained:
        pairs = {seed: pair for seed, pair in pairs.items() if not stand_ins(pair)}
        if not pairs:
            raise NotRunError("nothing was trained")
    note = joined(stand_ins(run for pair in pairs.values() for run in pair), missing)
    return Paired(tuple(pairs), list(pairs.values()), absent, note)


def _of_side(records: Records, side: Side, trained: bool) -> Replicates:
    """The runs of a scenario that has the selector; `NotRunError` if there are none."""
    place, selector = side
    runs = records.trained(place) if trained else records.selected(place)
    if runs is not None and selector in runs.seeds:
        return runs
    alone = records.selected(place) if trained else None
    if alone is not None and selector in alone.seeds:
        raise NotRunError("selection alone: nothing was trained")
    missing = f"scenario {place}" if runs is None else f"{selector} of {place}"
    raise NotRunError(f"{missing} is not in the experiment table")


def _selected(records: Records, place: str) -> Replicates:
    """The runs of a scenario, trained or not; `NotRunError` if there are none."""
    if (runs := records.selected(place)) is None:
        raise NotRunError(f"scenario {place} is not in the experiment table")
    return runs


OnRunsTest = (
    Ordering  # the order of the reference, config/README.md
    | Noninferiority
    | Equivalence
    | Collapse
    | Bound
    | Coincidence
    | EveryoneFirst
)
