"""Claim tests on runs: each yields a `Finding` for every scenario and every pair of selectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pausefl.claims.findings import Finding, in_units, joined, not_run, wanted_text
from pausefl.claims.quantities import Quantity, accuracy_drop, accuracy_rise
from pausefl.claims.records import Records, Run, is_trained
from pausefl.claims.statistics import FAILS, HOLDS, gaps, judge, region
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.registry.claims import QUANTITIES
from pausefl.settings import PrivacySettings
from pausefl.settings.claims import ClaimTest

Floats = NDArray[np.float64]

#: Leakages that differ by at most this share of the budget are equal.
ROUNDING = 1e-9

#: The runs of two selectors under one seed.
Pair = tuple[Run, Run]


def ordering(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """A selector's metric is below, or above, that of others by more than the margin.

    With ``reference``, the other runs are those of another scenario, of the same selector unless ``against``
    names others.
    """
    for name in test.scenarios[scale]:
        other = test.reference.get(scale, name)
        for ours in test.selectors:
            for theirs in test.against or (ours,):
                yield _compared(test, records, (name, ours), (other, theirs), test.direction)


def equivalence(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """A selector's metric equals that of others within the margin."""
    for name, ours, theirs in product(test.scenarios[scale], test.selectors, test.against):
        yield _compared(test, records, (name, ours), (name, theirs), "equal")


def _compared(
    test: ClaimTest, records: Records, ours: tuple[str, str], theirs: tuple[str, str], direction: str
) -> Finding:
    """Compare two (scenario, selector) by the test's metric."""
    quantity = QUANTITIES[test.metric]
    value: Quantity = quantity.load()
    low, high = region(direction, test.margin, test.gap)
    named, other = (side[1] if ours[0] == theirs[0] else ", ".join(side) for side in (ours, theirs))
    head = (test.kind, ours[0], f"{test.metric}: {named} against {other}", wanted_text(low, high, test.gap))
    pairs, n_missing, known = paired(records, ours, theirs)
    if not pairs:
        return not_run(*head, known)
    values = np.array([(value(a, b), value(b, a)) for a, b in pairs.values()])
    if np.isnan(values).all():
        return not_run(*head, joined(known, f"no run has {test.metric}"))
    outcome, found = judge(gaps(values[:, 0], values[:, 1], test.gap), low, high)
    what = quantity.infinite or f"has no finite {test.metric}"
    infinite = [
        f"{name} {what} in {n} of {len(values)} seeds"
        for name, n in zip((named, other), np.isinf(values).sum(axis=0), strict=True)
        if n
    ]
    unit = "ratio" if test.gap == "ratio" else quantity.unit
    gap, least, most = in_units(found, test.gap)
    note = joined(known, *infinite)
    return Finding(*head, outcome, gap, least, most, unit, tuple(pairs), _names(pairs), n_missing, note)


class Paired(NamedTuple):
    """Pairs of runs by seed, the number of seeds that lack one of the two, and a note."""

    pairs: dict[int, Pair]
    n_missing: int
    note: str


def paired(records: Records, ours: tuple[str, str], theirs: tuple[str, str]) -> Paired:
    """Pair the runs of two (scenario, selector) by seed."""
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
    pairs = {
        seed: (a.found[ours_name, seed], b.found[theirs_name, seed])
        for seed in seeds
        if (ours_name, seed) in a.found and (theirs_name, seed) in b.found
    }
    absent = len(seeds) - len(pairs)
    missing = f"missing runs: {absent} of {len(seeds)} seeds left out" if absent else ""
    return Paired(pairs, absent, joined(a.note or b.note, missing))


def _names(pairs: dict[int, Pair]) -> tuple[str, ...]:
    """Names of all runs, ours first, each once."""
    return tuple(dict.fromkeys(pair[side].name for side in (0, 1) for pair in pairs.values()))


def collapse(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """Selectors learn and then lose accuracy, both by more than the margin; those in ``against`` do not."""
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
    """No user's leakage exceeds the budget, in any round of any private run.

    Leakage is recomputed from the selections and the scenario's schedule; the test fails if the ledger
    disagrees.
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
            ledger, counted = run.rounds["leakage_max"].to_numpy(np.float64), recounted(run, privacy)
            highest = max(highest, *ledger, *counted)
            if np.abs(ledger - counted).max() > ROUNDING * privacy.epsilon_total:
                wrong.append(f"{selector}/seed-{seed}")
        share = highest / privacy.epsilon_total
        disagree = f"the ledger and the selections disagree: {', '.join(wrong)}" if wrong else ""
        planned = sum(len(seeds) for selector, seeds in runs.seeds.items() if SELECTORS[selector].private)
        yield Finding(
            *head,
            HOLDS if share <= 1 + ROUNDING and not wrong else FAILS,
            share,
            unit="share of the budget",
            seeds=tuple(sorted({seed for _, seed in private})),
            runs=tuple(run.name for run in private.values()),
            n_missing=planned - len(private),
            note=joined(runs.note, disagree),
        )


def recounted(run: Run, privacy: PrivacySettings) -> Floats:
    """Largest leakage (n,) of any user after each round, computed from the selections alone."""
    selections: Sequence[NDArray[np.int64]] = list(run.rounds["selection"])
    counts = np.zeros(1 + max((int(max(s)) for s in selections if len(s)), default=0), np.int64)
    most = []
    for selection in selections:
        counts[np.unique(np.asarray(selection, np.int64))] += 1
        most.append(int(counts.max()))
    return _partial_sums(privacy, max(most))[most]


def _partial_sums(privacy: PrivacySettings, n: int) -> Floats:
    """Budget spent after 0 .. n participations (n + 1,)."""
    budgets = make_schedule(privacy).epsilon(np.arange(1, n + 1))
    return np.concatenate([[0.0], np.cumsum(budgets)])


def coincidence(test: ClaimTest, records: Records, scale: str) -> Iterator[Finding]:
    """Selectors have the same leakage after every round, and it grows by one more budget each round."""
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
            yield Finding(
                *head,
                HOLDS if share <= ROUNDING else FAILS,
                share,
                unit="share of the budget",
                seeds=tuple(pairs),
                runs=_names(used),
                n_missing=n_missing,
                note=note,
            )
