"""Tests on runs: each gives a `Finding` for every scenario and every pair of selectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pausefl.claims.findings import Finding, in_units, not_run, wanted_text
from pausefl.claims.quantities import METRICS, accuracy_drop, accuracy_rise
from pausefl.claims.records import Records, Run, is_trained
from pausefl.claims.statistics import FAILS, HOLDS, gaps, judge, region
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.settings import PrivacySettings
from pausefl.settings.claims import ClaimTest

Floats = NDArray[np.float64]

#: What leakages may differ by, as a share of the budget, and still be equal.
ROUNDING = 1e-9

#: The runs of two selectors under one seed.
Pair = tuple[Run, Run]


def ordering(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """One selector's metric is below, or above, that of others, by more than the margin.

    With ``reference`` the other runs are those of another scenario, and of the same selector unless
    ``against`` names others.
    """
    for name in test.scenarios[scale]:
        other = test.reference.get(scale, name)
        for ours in test.selectors:
            for theirs in test.against or (ours,):
                yield _compared(test, records, (name, ours), (other, theirs), test.direction)


def equivalence(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """One selector's metric is that of others, within the margin to both sides."""
    for name, ours, theirs in product(test.scenarios[scale], test.selectors, test.against):
        yield _compared(test, records, (name, ours), (name, theirs), "equal")


def _compared(
    test: ClaimTest, records: Records, ours: tuple[str, str], theirs: tuple[str, str], direction: str
) -> Finding:
    """Compare two (scenario, selector) by the test's metric."""
    metric = METRICS[test.metric]
    low, high = region(direction, test.margin, test.gap)
    named = ours[1] if ours[0] == theirs[0] else f"{ours[0]}, {ours[1]}"
    other = theirs[1] if ours[0] == theirs[0] else f"{theirs[0]}, {theirs[1]}"
    head = (test.kind, ours[0], f"{test.metric}: {named} against {other}", wanted_text(low, high, test.gap))
    pairs, n_missing, known = paired(records, ours, theirs)
    if not pairs:
        return not_run(*head, known)
    values = np.array([(metric.value(a, b), metric.value(b, a)) for a, b in pairs.values()])
    if np.isnan(values).all():
        return not_run(*head, "; ".join(filter(None, [known, f"no run has {test.metric}"])))
    outcome, found = judge(gaps(values[:, 0], values[:, 1], test.gap), low, high)
    gap, least, most = in_units(found, test.gap)
    unit = "ratio" if test.gap == "ratio" else metric.unit
    note = "; ".join(filter(None, [known, *_infinite(test.metric, (named, other), values)]))
    return Finding(*head, outcome, gap, least, most, unit, tuple(pairs), _names(pairs), n_missing, note)


def _infinite(metric: str, names: tuple[str, str], values: Floats) -> Iterator[str]:
    """Say in how many seeds a value is infinite, which no mean shows."""
    what = "never reaches the target" if metric == "seconds_to_target" else f"has no finite {metric}"
    for name, column in zip(names, values.T, strict=True):
        if n_infinite := int(np.isinf(column).sum()):
            yield f"{name} {what} in {n_infinite} of {len(column)} seeds"


class Paired(NamedTuple):
    """Runs by seed, where both are there; seeds of which a run is missing; what to know of them, in words."""

    pairs: dict[int, Pair]
    n_missing: int
    note: str


def paired(records: Records, ours: tuple[str, str], theirs: tuple[str, str]) -> Paired:
    """Pair the runs of two (scenario, selector)."""
    sides = []
    for scenario, selector in (ours, theirs):
        runs = records.runs(scenario)
        if runs is None:
            return Paired({}, 0, f"scenario {scenario} is not in the experiment table")
        if selector not in runs.seeds:
            return Paired({}, 0, f"{selector} is not in the experiment table of {scenario}")
        sides.append((runs, selector))
    (a, ours_name), (b, theirs_name) = sides
    seeds = sorted(set(a.seeds[ours_name]) & set(b.seeds[theirs_name]))
    if not seeds:
        return Paired({}, 0, "no seed in common")
    there = {
        seed: (a.found[ours_name, seed], b.found[theirs_name, seed])
        for seed in seeds
        if (ours_name, seed) in a.found and (theirs_name, seed) in b.found
    }
    absent = len(seeds) - len(there)
    missing = f"missing runs: {absent} of {len(seeds)} seeds left out" if absent else ""
    return Paired(there, absent, "; ".join(filter(None, [a.note or b.note, missing])))


def _names(pairs: dict[int, Pair]) -> tuple[str, ...]:
    """Names of all runs, ours first, each once."""
    return tuple(dict.fromkeys(pair[side].name for side in (0, 1) for pair in pairs.values()))


def collapse(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """Some selectors learn and then lose, by more than the margin, what those they are set against keep."""
    for name in test.scenarios[scale]:
        for selector in test.selectors:
            yield _alone(test, records, (name, selector), "accuracy gained", accuracy_rise, "higher")
            yield _alone(test, records, (name, selector), "accuracy lost", accuracy_drop, "higher")
        for selector in test.against:
            yield _alone(test, records, (name, selector), "accuracy lost", accuracy_drop, "below")


def _alone(
    test: ClaimTest,
    records: Records,
    side: tuple[str, str],
    what: str,
    value: Callable[[Run], float],
    direction: str,
) -> Finding:
    """A number of one selector's runs, above or below the margin."""
    low, high = (test.margin, math.inf) if direction == "higher" else (-math.inf, test.margin)
    head = (test.kind, side[0], f"{what}: {side[1]}", wanted_text(low, high, "share"))
    pairs, n_missing, note = paired(records, side, side)
    pairs = {seed: pair for seed, pair in pairs.items() if is_trained(pair[0])}
    if not pairs:
        return not_run(*head, note or "nothing was trained")
    outcome, found = judge(np.array([value(run) for run, _ in pairs.values()]), low, high)
    gap = (found.mean, found.low, found.high)
    return Finding(*head, outcome, *gap, "share", tuple(pairs), _names(pairs), n_missing, note)


def bound(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """No leakage of any round of any private run exceeds the budget.

    Leakage is counted again from the selections, by the scenario's schedule; where the ledger says otherwise,
    the test fails.
    """
    for name in test.scenarios[scale]:
        head = (test.kind, name, "leakage over budget", "share ≤ 1")
        runs = records.runs(name)
        if runs is None:
            yield not_run(*head, f"scenario {name} is not in the experiment table")
            continue
        privacy = runs.scenario.privacy
        private = {key: run for key, run in runs.found.items() if SELECTORS[key[0]].private}
        if privacy is None or not private:
            yield not_run(*head, "no private run is there")
            continue
        highest, wrong = 0.0, []
        for (selector, seed), run in private.items():
            told, counted = run.rounds["leakage_max"].to_numpy(np.float64), recounted(run, privacy)
            highest = max(highest, *told, *counted)
            if not _equal(told, counted, privacy):
                wrong.append(f"{selector}/seed-{seed}")
        share = highest / privacy.epsilon_total
        disagree = f"the ledger and the selections disagree: {', '.join(wrong)}" if wrong else ""
        outcome = HOLDS if share <= 1 + ROUNDING and not wrong else FAILS
        absent = sum(len(seeds) for selector, seeds in runs.seeds.items() if SELECTORS[selector].private)
        yield Finding(
            *head,
            outcome,
            share,
            unit="share of the budget",
            seeds=tuple(sorted({seed for _, seed in private})),
            runs=tuple(run.name for run in private.values()),
            n_missing=absent - len(private),
            note="; ".join(filter(None, [runs.note, disagree])),
        )


def recounted(run: Run, privacy: PrivacySettings) -> Floats:
    """The largest leakage (n,) of any user after each round, from the selections alone."""
    selections: Sequence[NDArray[np.int64]] = list(run.rounds["selection"])
    counts = np.zeros(1 + max((int(max(s)) for s in selections if len(s)), default=0), np.int64)
    most = []
    for selection in selections:
        counts[np.unique(np.asarray(selection, np.int64))] += 1
        most.append(int(counts.max()))
    return _partial_sums(privacy, max(most))[most]


def _partial_sums(privacy: PrivacySettings, n: int) -> Floats:
    """What 0 .. n participations have spent (n + 1,), added up from the budgets of each."""
    budgets = make_schedule(privacy).epsilon(np.arange(1, n + 1))
    return np.concatenate([[0.0], np.cumsum(budgets)])


def _equal(a: Floats, b: Floats, privacy: PrivacySettings) -> bool:
    return bool(np.abs(a - b).max() <= ROUNDING * privacy.epsilon_total)


def coincidence(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """Selectors have the same leakage after every round, and it rises by one more budget each round."""
    for name, ours, theirs in product(test.scenarios[scale], test.selectors, test.against):
        wanted = f"share ≤ {ROUNDING:g}"
        heads = [
            (test.kind, name, f"leakage in every round: {ours} against {theirs}", wanted),
            (test.kind, name, f"leakage in every round: {ours} against the sum of the budgets", wanted),
        ]
        pairs, n_missing, note = paired(records, (name, ours), (name, theirs))
        runs = records.runs(name)
        privacy = runs.scenario.privacy if runs is not None else None
        if not pairs or privacy is None:
            yield from (not_run(*head, note or "no budget") for head in heads)
            continue
        leakages = [
            tuple(run.rounds["leakage_max"].to_numpy(np.float64) for run in pair) for pair in pairs.values()
        ]
        sums = [_partial_sums(privacy, len(a))[1:] for a, _ in leakages]
        apart = max(float(np.abs(a - b).max()) for a, b in leakages)
        off = max(float(np.abs(a - s).max()) for (a, _), s in zip(leakages, sums, strict=True))
        alone = {seed: (run, run) for seed, (run, _) in pairs.items()}
        for head, gap, used in zip(heads, (apart, off), (pairs, alone), strict=True):
            share = gap / privacy.epsilon_total
            outcome = HOLDS if share <= ROUNDING else FAILS
            yield Finding(
                *head,
                outcome,
                share,
                unit="share of the budget",
                seeds=tuple(pairs),
                runs=_names(used),
                n_missing=n_missing,
                note=note,
            )


#: By the name that a claim has for them.
RUN_KINDS: dict[str, Callable[[ClaimTest, Records, str], Iterator[Finding]]] = {
    "ordering": ordering,
    "equivalence": equivalence,
    "collapse": collapse,
    "bound": bound,
    "coincidence": coincidence,
}
