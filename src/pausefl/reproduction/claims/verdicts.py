"""From comparisons to the finding on each claim, and how much of the claim they cover."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from pausefl.analysis.statistics import FAILS, HOLDS, LEVEL, NOT_RUN, UNDECIDED, holm_adjusted
from pausefl.errors import PauseflError
from pausefl.reproduction.claims.base import readings
from pausefl.reproduction.claims.comparison_result import Comparison, joined_notes
from pausefl.reproduction.claims.load import Claim
from pausefl.reproduction.claims.records import Records
from pausefl.reproduction.figures.papers import AS_WRITTEN

SUPPORTED, CONTRADICTED, MIXED = "supported", "contradicted", "mixed"
SUPPORTED_SO_FAR = "supported so far"

#: Findings, the best first.
FINDINGS = (SUPPORTED, SUPPORTED_SO_FAR, MIXED, UNDECIDED, CONTRADICTED, NOT_RUN)

#: Missing results that a message names.
_MOST_NAMES = 10


@dataclass(frozen=True)
class Verdict:
    """What the comparisons of a claim amount to in one reading.

    Repeats are marked and outcomes corrected: `verdict_on` makes it so.
    """

    claim: Claim
    reading: str
    comparisons: tuple[Comparison, ...]
    #: What the same claim amounts to with another value of a setting, by what that is called.
    others: Mapping[str, Verdict] = field(default_factory=dict)

    @cached_property
    def votes(self) -> list[Comparison]:
        """Comparisons that count: those of one seed decide nothing, and count if there are no others."""
        return [each for each in self._distinct if not each.of_one_seed] or self._distinct

    @cached_property
    def _distinct(self) -> list[Comparison]:
        return [each for each in self.comparisons if each.made and not each.repeats]

    @cached_property
    def finding(self) -> str:
        """The finding, one of `FINDINGS`.

        ``supported`` if every part of the claim has a vote and every comparison made holds; ``supported so
        far`` if in every part one holds, none fails, even before the correction, and others are open or of
        one seed; ``contradicted`` if every decided one fails, before the correction as after it; ``mixed``
        if some hold, even if only before it, and some fail; ``undecided`` otherwise; ``not run`` if no
        comparison was made.
        """
        outcomes = {each.outcome for each in self.votes}
        if not outcomes:
            return NOT_RUN
        if FAILS in outcomes:
            return MIXED if HOLDS in outcomes | {each.alone for each in self.votes} else CONTRADICTED
        holding = {each.part for each in self.votes if each.outcome == HOLDS}
        failed = any(each.alone == FAILS for each in self.votes)
        if failed or holding != {each.part for each in self.comparisons}:
            return UNDECIDED
        whole = outcomes == {HOLDS} and len(self.votes) == len(self._distinct)
        return SUPPORTED if whole else SUPPORTED_SO_FAR

    @cached_property
    def coverage(self) -> dict[str, Any]:
        """How much of the claim was compared.

        Votes that are ``holds``, ``fails`` or ``open``; ``holds_corrected``: how many of the first still hold
        after Holm's correction for the number of votes, which no finding needs where none fails. Other
        comparisons, of ``one_seed``, which decide
        nothing, that are ``repeats`` or ``not_run``, though planned. ``figures`` of the papers of which
        something was compared, of the ``figures_named``. ``seeds``: the least and the greatest number of the
        votes, (0, 0) where none are needed. ``lacking``: comparisons that lack planned runs of some seeds.
        """
        outcomes = Counter(one.outcome for one in self.votes if not one.of_one_seed)
        adjusted = _adjusted(self.votes)
        made = [one for one in self.comparisons if one.made]
        showing = [one for one in made if not one.of_one_seed or one in self.votes]
        seeds = [len(one.seeds) for one in self.votes if one.seeds] or [0]
        return {
            "holds": outcomes[HOLDS],
            "holds_corrected": sum(
                one.outcome == HOLDS and adjusted.get(id(one), 0) < LEVEL for one in self.votes
            ),
            "fails": outcomes[FAILS],
            "open": outcomes[UNDECIDED],
            "one_seed": sum(one.of_one_seed for one in made if not one.repeats),
            "repeats": sum(bool(one.repeats) for one in made),
            "not_run": len(self.comparisons) - len(made),
            "figures": sum(any(map(figure.shows, showing)) for figure in self.claim.figures.values()),
            "figures_named": len(self.claim.figures),
            "seeds": (min(seeds), max(seeds)),
            "lacking": sum(one.n_missing > 0 for one in self.comparisons),
        }


def judge_claims(
    claims: Iterable[Claim], records: Records, scale: str, partial: bool = False
) -> tuple[Verdict, ...]:
    """The verdict on every claim at one scale, whose runs and studies alone are read.

    First as written, then as run; claims that say nothing of a run of the authors have no second reading.
    With ``partial``, by the results that exist: a comparison with missing runs has fewer seeds, and the
    coverage says so. Else `PauseflError` names some of the configured runs and studies that are missing.
    """
    verdicts = []
    for claim, (reading, group) in product(claims, readings(scale).items()):
        tests = [(i, test) for i, test in enumerate(claim.tests) if test.applies(group)]
        if tests or reading == AS_WRITTEN:
            # Their scenarios are the papers'.
            alternatives = claim.alternatives if scale == "paper" else ()
            verdict, *others = (
                verdict_on(
                    claim,
                    [replace(each, test=i) for i, test in tests for each in test.compare(of, group)],
                    reading,
                )
                for of in (records, *(records.instead(one.selector, one.scenarios) for one in alternatives))
            )
            labels = [alternative.label for alternative in alternatives]
            verdicts.append(replace(verdict, others=dict(zip(labels, others, strict=True))))
    if records.missing and not partial:
        names = sorted(records.missing)
        more = [f"and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
        head = f"claims at scale '{scale}': {len(names)} results are missing:"
        raise PauseflError("\n  ".join([head, *names[:_MOST_NAMES], *more]))
    return tuple(verdicts)


def verdict_on(claim: Claim, comparisons: Sequence[Comparison], reading: str = AS_WRITTEN) -> Verdict:
    """The verdict that the comparisons of a claim amount to."""
    return Verdict(claim, reading, tuple(_corrected(_without_repeats(comparisons))))


def _without_repeats(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons, of which those that repeat another name it.

    A comparison repeats another of the same kind, measure and region if its runs did the same under every
    seed that both have. The one with the most runs counts, the first of several.
    """
    found, votes = list(comparisons), list[Comparison]()
    for i, this in sorted(enumerate(comparisons), key=lambda each: -len(each[1].prints)):
        if first := next((other for other in votes if _same_runs(this, other)), None):
            found[i] = replace(this, repeats=_name(first))
        else:
            votes.append(this)
    return found


def _name(comparison: Comparison) -> str:
    return joined_notes(comparison.where, comparison.question, by=": ")


def _same_runs(a: Comparison, b: Comparison) -> bool:
    if not a.made or (a.kind, a.measure, a.wanted) != (b.kind, b.measure, b.wanted):
        return False
    common = a.prints.keys() & b.prints.keys()
    return bool(common) and all(a.prints[key] == b.prints[key] for key in common)


def _corrected(comparisons: list[Comparison]) -> list[Comparison]:
    """The comparisons, corrected for their number if any fails.

    Without a failure, a claim that all comparisons hold needs no correction: each must hold by itself. One
    failure among many can be chance. So all votes that are estimated then have to pass Holm's procedure in
    common to stay decided. What is not estimated stays as it is. What repeats a vote has its outcome.
    """
    votes = [comparison for comparison in comparisons if comparison.made and not comparison.repeats]
    if all(comparison.outcome != FAILS for comparison in votes):
        return comparisons
    adjusted, found = _adjusted(votes), []
    for comparison in comparisons:
        same = (one for one in votes if _name(one) == comparison.repeats and _same_runs(one, comparison))
        vote = next(same, comparison)
        if comparison.outcome in (HOLDS, FAILS) and adjusted.get(id(vote), 0) >= LEVEL:
            note = f"{comparison.outcome} alone, but not among {len(adjusted)} tests (Holm)"
            alone = comparison.outcome
            comparison = replace(
                comparison, outcome=UNDECIDED, alone=alone, note=joined_notes(comparison.note, note)
            )
        found.append(comparison)
    return found


def _adjusted(votes: Sequence[Comparison]) -> dict[int, float]:
    """Holm's p of each vote that is estimated, by its identity."""
    tested = [each for each in votes if not math.isnan(each.p)]
    return dict(zip(map(id, tested), holm_adjusted([each.p for each in tested]).tolist(), strict=True))
