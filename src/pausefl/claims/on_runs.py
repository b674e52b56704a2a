"""Kinds of claim tests on runs. They compare selectors seed by seed, in each scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.claims.base import Against, ClaimTest, Margin, Selectors
from pausefl.claims.comparisons import (
    RATIO,
    Comparison,
    Head,
    NotRunError,
    decided,
    joined,
    tried,
    wanted_text,
)
from pausefl.claims.quantities import QUANTITIES, accuracy_drop, accuracy_rise
from pausefl.claims.records import Records, Replicate, Replicates
from pausefl.claims.statistics import FAILS, HOLDS, Floats, gaps, judge, region
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.settings import PrivacySettings
from pausefl.settings.scenario import Scale, SelectorName
from pausefl.settings.types import Distinct, NonNegative, OneOf

#: Leakages that differ by at most this share of the budget are equal.
ROUNDING = 1e-9

#: Accuracy from 0 to 1 in percentage points.
POINTS = 100

Direction = Annotated[str, OneOf(("lower", "higher"))]


class OnRuns(ClaimTest):
    """A test on the runs of scenarios."""

    scenarios: dict[Scale, Distinct[str]]
    """Scenarios whose runs are compared, by scale (`paper`, `reduced`, `demo`); a scenario has one scale."""

    def scenarios_at(self, scale: str) -> tuple[str, ...]:
        """All scenarios whose runs the test needs at a scale."""
        return self.scenarios.get(scale, ())

    def applies(self, scale: str) -> bool:
        """Whether the test is part of its claim at a scale."""
        return bool(self.scenarios.get(scale))


class OnPairs(OnRuns, Against, Margin):
    """A test that compares the runs of two selectors, or of two scenarios, by a metric."""

    against: Distinct[SelectorName] = ()
    reference: dict[Scale, str] = {}
    """By scale, a scenario whose runs the others are compared with, in place of the same scenario; of the
    same selector unless `against` names others."""
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

    def scenarios_at(self, scale: str) -> tuple[str, ...]:
        """All scenarios whose runs the test needs at a scale."""
        own = self.scenarios.get(scale, ())
        return (*own, self.reference[scale]) if own and scale in self.reference else own

    def compare(self, records: Records, scale: str) -> Iterator[Comparison]:
        """Compare each selector with each other one."""
        quantity = QUANTITIES[self.metric]
        unit = RATIO if self.gap == RATIO else quantity.unit
        wanted = wanted_text(*region(self.side, self.margin, self.gap), unit)
        for place, selector in product(self.scenarios[scale], self.selectors):
            other = self.reference.get(scale, place)
            for theirs in self.against or (selector,):
                sides = (place, selector), (other, theirs)
                names = [side[1] if place == other else ", ".join(side) for side in sides]
                head = (self.kind, place, f"{quantity.label}: {' against '.join(names)}", wanted)
                yield tried(head, self._compared, records, sides, names, unit)

    def _compared(
        self, head: Head, records: Records, sides: tuple[Side, Side], names: list[str], unit: str
    ) -> Comparison:
        quantity = QUANTITIES[self.metric]
        found = paired(records, *sides, trained=quantity.trained)
        values = np.array(
            [[_bounds(quantity.of(*each)) for each in (pair, pair[::-1])] for pair in found.pairs.values()]
        )
        if np.isnan(values).all():
            raise NotRunError(joined(found.note, f"no run has a value of {self.metric}"))
        ours, theirs = (quantity.factor * values).transpose(1, 0, 2)
        judged = judge(gaps(ours, theirs, self.gap), *region(self.side, self.margin, self.gap))
        note = joined(found.note, *_unknown(quantity.infinite, names, values))
        facts = facts_of(found.runs, quantity.trained)
        return decided(head, judged, self.gap, unit=unit, n_missing=found.n_missing, note=note, **facts)


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

    def compare(self, records: Records, scale: str) -> Iterator[Comparison]:
        """Look at each selector's rise and fall."""
        gained, lost = ("accuracy gained", accuracy_rise), ("accuracy lost", accuracy_drop)
        for place in self.scenarios[scale]:
            looks = [(each, *look, "higher") for each in self.selectors for look in (gained, lost)]
            looks += [(each, *lost, "not higher") for each in self.against]
            for selector, what, value, side in looks:
                low, high = region(side, self.margin, "difference")
                head = (self.kind, place, f"{what}: {selector}", wanted_text(low, high, "points"))
                yield tried(head, _of_one, records, (place, selector), value, (low, high))


def _of_one(
    head: Head, records: Records, side: Side, value: Callable[[Replicate], float], wanted: tuple[float, float]
) -> Comparison:
    """A number of one selector's runs."""
    found = paired(records, side, side, trained=True)
    runs = found.side("ours")
    judged = judge(np.array([POINTS * value(run) for run in runs.values()]), *wanted)
    facts = facts_of(runs, trained=True)
    return decided(head, judged, unit="points", n_missing=found.n_missing, note=found.note, **facts)


class Bound(OnRuns):
    """No private run leaks more than the budget in any round, as counted again and in the ledger."""

    kind: Literal["bound"]

    def compare(self, records: Records, scale: str) -> Iterator[Comparison]:
        """Look at all private runs of each scenario."""
        for place in self.scenarios[scale]:
            head = (self.kind, place, "largest leakage of any user", "≤ 1 of the budget")
            yield tried(head, _bounded, records)


def _bounded(head: Head, records: Records) -> Comparison:
    runs = _selected(records, head[1])
    private = {key: run for key, run in runs.found.items() if SELECTORS[key[0]].private}
    if not private:
        raise NotRunError("no private run is there")
    privacy = _privacy(runs, "no private run is there")
    highest, wrong = 0.0, []
    for (selector, seed), run in private.items():
        ledger, counted = _leakage(run), recounted(run, privacy)
        highest = max(highest, *ledger, *counted)
        if np.abs(ledger - counted).max() > ROUNDING * privacy.epsilon_total:
            wrong.append(f"{selector}/seed-{seed}")
    share = highest / privacy.epsilon_total
    n_missing = sum(len(own) for name, own in runs.seeds.items() if SELECTORS[name].private) - len(private)
    note = f"the ledger and the selections disagree: {', '.join(wrong)}" if wrong else ""
    return _certain(head, share <= 1 + ROUNDING and not wrong, share, private, n_missing, note)


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

    def compare(self, records: Records, scale: str) -> Iterator[Comparison]:
        """Compare each selector with each other one, and with the sum of the budgets."""
        wanted = f"≤ {ROUNDING:g} of the budget"
        for place, ours, theirs in product(self.scenarios[scale], self.selectors, self.against):
            for other, question in (
                (theirs, f"difference of leakage in any round: {ours} against {theirs}"),
                ("", f"difference to the sum of the budgets in any round: {ours}"),
            ):
                sides = (place, ours), (place, theirs)
                yield tried((self.kind, place, question, wanted), _coinciding, records, sides, bool(other))


def _coinciding(head: Head, records: Records, sides: tuple[Side, Side], with_each_other: bool) -> Comparison:
    """The largest difference of leakage of two selectors, or of the first and the sum of the budgets."""
    found = paired(records, *sides, trained=False)
    privacy = _privacy(_selected(records, head[1]), "no budget")
    apart = 0.0
    for pair in found.pairs.values():
        first, second = map(_leakage, pair)
        if not with_each_other:
            second = _partial_sums(privacy, len(first))[1:]
        n = min(len(first), len(second))
        apart = max(apart, float(np.abs(first[:n] - second[:n]).max()))
    runs = {
        (side, seed): run for seed, pair in found.pairs.items() for side, run in zip(SIDES, pair, strict=True)
    }
    used = runs if with_each_other else found.side("ours")
    share = apart / privacy.epsilon_total
    return _certain(head, share <= ROUNDING, share, used, found.n_missing, "")


class EveryoneFirst(OnRuns, Selectors):
    """The first K/m rounds take no user twice, under every seed."""

    kind: Literal["everyone_first"]

    def compare(self, records: Records, scale: str) -> Iterator[Comparison]:
        """Look at each selector's first rounds."""
        for place, selector in product(self.scenarios[scale], self.selectors):
            question = f"users taken once in the first rounds: {selector}"
            yield tried((self.kind, place, question, "all of them"), _everyone, records, (place, selector))


def _everyone(head: Head, records: Records, side: Side) -> Comparison:
    found = paired(records, side, side, trained=False)
    network = _selected(records, head[1]).scenario.network
    n_rounds = network.n_users // network.n_selected
    used = found.side("ours")
    taken = [np.concatenate(list(run.rounds["selection"].iloc[:n_rounds])) for run in used.values()]
    share = min(len(np.unique(users)) for users in taken) / (n_rounds * network.n_selected)
    note = f"{n_rounds} rounds of {network.n_selected} of {network.n_users} users; the least of all seeds"
    return _certain(head, share == 1, share, used, found.n_missing, note, unit="of the users")


OnRunsTest = Ordering | Noninferiority | Equivalence | Collapse | Bound | Coincidence | EveryoneFirst

#: Scenario and selector.
Side = tuple[str, str]
SIDES = ("ours", "theirs")


@dataclass(frozen=True)
class Paired:
    """Pairs of runs by seed, the number of seeds that lack one of the two, and a note."""

    pairs: Mapping[int, tuple[Replicate, Replicate]]
    n_missing: int
    note: str

    @property
    def runs(self) -> dict[tuple[str, int], Replicate]:
        """All runs by side and seed, ours first."""
        return self.side("ours") | self.side("theirs")

    def side(self, side: str) -> dict[tuple[str, int], Replicate]:
        """The runs of one of `SIDES`, by side and seed."""
        return {(side, seed): pair[SIDES.index(side)] for seed, pair in self.pairs.items()}


def paired(records: Records, ours: Side, theirs: Side, trained: bool) -> Paired:
    """Pair the runs of two sides by seed, trained ones or any; `NotRunError` if there is no pair."""
    runs = [_runs_of(records, side, trained) for side in (ours, theirs)]
    seeds = sorted(set(runs[0].seeds[ours[1]]) & set(runs[1].seeds[theirs[1]]))
    if not seeds:
        raise NotRunError("no seed in common")
    (a, ours_name), (b, theirs_name) = zip(runs, (ours[1], theirs[1]), strict=True)
    pairs = {
        seed: (a.found[ours_name, seed], b.found[theirs_name, seed])
        for seed in seeds
        if (ours_name, seed) in a.found and (theirs_name, seed) in b.found
    }
    absent = len(seeds) - len(pairs)
    missing = f"missing runs: {absent} of {len(seeds)} seeds left out" if absent else ""
    if not pairs:
        raise NotRunError(missing)
    if trained:
        pairs = {seed: pair for seed, pair in pairs.items() if all(run.is_trained for run in pair)}
        if not pairs:
            raise NotRunError("nothing was trained")
    stand_in = not all(run.is_trained for pair in pairs.values() for run in pair)
    return Paired(pairs, absent, joined("selection alone" if stand_in else "", missing))


def _runs_of(records: Records, side: Side, trained: bool) -> Replicates:
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


def _privacy(runs: Replicates, otherwise: str) -> PrivacySettings:
    """The budget of a scenario; `NotRunError` with these words if it has none."""
    if runs.scenario.privacy is None:
        raise NotRunError(otherwise)
    return runs.scenario.privacy


def _leakage(run: Replicate) -> Floats:
    """Largest leakage of any user (n,) after each round, as the ledger has it."""
    return run.rounds["leakage_max"].to_numpy(np.float64)


def _bounds(value: float | tuple[float, float]) -> tuple[float, float]:
    return value if isinstance(value, tuple) else (value, value)


def _unknown(infinite: str, names: Sequence[str], values: Floats) -> Iterator[str]:
    """Notes on values (n, 2 sides, 2 bounds) that are infinite or only bounded."""
    for name, (_, high) in zip(names, values.transpose(1, 2, 0), strict=True):
        if n := int(np.isinf(high).sum()):
            yield f"{name} {infinite} in {n} of {len(values)} seeds"
    if (undecided := np.isinf(values[..., 1]).all(axis=1)).any():
        yield f"{undecided.sum()} of {len(values)} seeds decide nothing"


def facts_of(runs: Mapping[tuple[str, int], Replicate], trained: bool) -> dict[str, Any]:
    """Seeds, names and prints of runs, by side (or selector) and seed, as a `Comparison` has them."""
    return {
        "seeds": tuple(sorted({seed for _, seed in runs})),
        "runs": tuple(dict.fromkeys(run.name for run in runs.values())),
        "prints": {key: run.learning if trained else run.selections for key, run in runs.items()},
    }


def _certain(
    head: Head,
    holds: bool,
    gap: float,
    runs: Mapping[tuple[str, int], Replicate],
    n_missing: int,
    note: str,
    unit: str = "of the budget",
) -> Comparison:
    """A comparison in which nothing is estimated."""
    stand_in = "" if all(run.is_trained for run in runs.values()) else "selection alone"
    return Comparison(
        *head,
        HOLDS if holds else FAILS,
        gap,
        unit=unit,
        measure=head[2].partition(":")[0],
        n_missing=n_missing,
        note=joined(stand_in, note),
        **facts_of(runs, trained=False),
    )
