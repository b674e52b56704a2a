"""Verdicts in words, for pages, files and the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pausefl.analysis.formats import rounded
from pausefl.analysis.statistics import FAILS, HOLDS, ROUNDING, UNDECIDED
from pausefl.reproduction.claims.comparison_result import RATIO, Comparison, joined_notes
from pausefl.reproduction.claims.verdicts import Verdict
from pausefl.selectors import LABELS

#: Places that are named; of more, the number is told.
_MOST_NAMED = 5

#: How the unit of a gap is told, where that is not its name.
_UNITS = {RATIO: "times", "of instances": "% of instances"}


def describe(verdict: Verdict) -> dict[str, str]:
    """A verdict in words.

    Returns
    -------
    dict
        ``failing``: what its failures mean, if the claim says that. ``count``: how many hold, fail and are
        open. ``others``: findings with other values of a setting. ``needed``: what each comparison needs.
        ``outcomes``: how many hold, fail and are open, and how many have no vote. ``why`` not every one
        holds. ``effect``: the smallest and the largest gap of the votes on the claim's first measure, and
        of comparisons of one seed, which have no vote beside others.
        ``authors``: the same of the authors' runs. ``covered``: figures and seeds. A dash if there is none.
    """
    logged = [
        replace(each, gap=each.authors, bound="", measure=each.topic, who="") for each in verdict.comparisons
    ]
    first = next((_measured(each) for each in verdict.votes), None)
    alone = [
        each
        for each in verdict.comparisons
        if each.of_one_seed and not each.repeats and each not in verdict.votes and _measured(each) == first
    ]
    several = len({each.subject for each in verdict.votes if _measured(each) == first}) > 1
    of_one_seed = _effect(alone, several).partition(": ")[2]
    return {
        "failing": verdict.claim.failing if verdict.coverage["fails"] else "",
        "count": _count(verdict.coverage),
        "others": joined_notes(
            *(
                f"with {name} {one.finding} ({_outcomes(one.coverage)})"
                for name, one in verdict.others.items()
            )
        ),
        "needed": _needed(verdict.comparisons),
        "outcomes": _outcomes(verdict.coverage),
        "why": _why(verdict),
        "effect": joined_notes(_effect(verdict.votes), of_one_seed and f"one seed: {of_one_seed}"),
        "authors": _effect(logged),
        "covered": _covered(verdict.coverage),
    }


def with_count(finding: str, count: str) -> str:
    """A finding with its count, which may be empty: ``supported (4 hold, 0 fail, 0 open)``."""
    return f"{finding} ({count})" if count else finding


def _needed(comparisons: Iterable[Comparison]) -> str:
    """``time to the target: ratio < 1``."""
    topics: dict[str, list[str]] = {}
    for each in comparisons:
        topics.setdefault(each.wanted, []).append(each.topic)
    return "; ".join(f"{' and '.join(dict.fromkeys(of))}: {wanted}" for wanted, of in topics.items())


def _count(coverage: Mapping[str, Any]) -> str:
    """``3 hold, 0 fail, 1 open, 2 of one seed``; empty without a vote of several seeds.

    Where some are open and none fails, also how many hold after a correction for their number, if fewer do.
    """
    holds, fails, n_open = (coverage[key] for key in ("holds", "fails", "open"))
    if not holds + fails + n_open:
        return ""
    fewer = n_open and not fails and coverage["holds_corrected"] < holds
    corrected = f" ({coverage['holds_corrected']} after Holm's correction)" if fewer else ""
    of_one_seed = f", {coverage['one_seed']} of one seed" if coverage["one_seed"] else ""
    return f"{holds} hold{corrected}, {fails} fail, {n_open} open{of_one_seed}"


def _outcomes(coverage: Mapping[str, Any]) -> str:
    """``3 hold, 0 fail, 1 open, 2 of one seed; 1 repeated``."""
    votes = _count(coverage) or (f"{coverage['one_seed']} of one seed" if coverage["one_seed"] else "")
    others = {"repeated": "repeats", "not run": "not_run"}
    more = [f"{coverage[key]} {what}" for what, key in others.items() if coverage[key]]
    return joined_notes(votes, ", ".join(more)) or "none"


def _why(verdict: Verdict) -> str:
    """What does not hold, and where: ``Fails: 1.2 times for PAUSE (v2 Fig. 9). Open: v2 Fig. 2``."""
    votes = [one for one in verdict.votes if not one.of_one_seed]
    if not votes:
        notes = dict.fromkeys(one.note for one in verdict.comparisons if one.note)
        why = f"No run was made: {_listed(notes)}" if notes else "No run was made"
        return "One seed decides nothing" if verdict.coverage["one_seed"] else why
    parts, places = {one.part for one in votes}, dict[str, list[str]]()
    for one in verdict.comparisons:
        if one in votes and one.outcome == FAILS:
            what, where = "Fails", f"{_gap(one)} for {one.who} ({_place(verdict, one)})"
        elif one in votes and one.outcome == UNDECIDED:
            alone = {HOLDS: "Holds", FAILS: "Fails"}.get(one.alone)
            what = f"{alone} if tested alone, not among {len(votes)}" if alone else "Open"
            where = _place(verdict, one)
        elif one.part not in parts:
            what, where = f"No vote on {one.topic}", _place(verdict, one)
        else:
            continue
        places.setdefault(what, []).append(where)
    return ". ".join(f"{what}: {_listed(of)}" for what, of in sorted(places.items())) or "Every vote holds"


def _place(verdict: Verdict, comparison: Comparison) -> str:
    """The figures of a claim that show a comparison; else its scenario or study."""
    figures = [name for name, figure in verdict.claim.figures.items() if figure.shows(comparison)]
    return ", ".join(figures) or comparison.where


def _listed(places: Iterable[str]) -> str:
    """Each place once; the first few."""
    named = list(dict.fromkeys(places))
    more = len(named) - _MOST_NAMED
    return ", ".join(named[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _effect(comparisons: Sequence[Comparison], named: bool = False) -> str:
    """The ends of the gaps on the first measure: ``leakage: PAUSE 0.59 to 0.84, SA-PAUSE 0.95 times``.

    Selectors are named if there are several, or all are to be ``named``.
    """
    known = [one for one in comparisons if math.isfinite(one.gap)]
    if not known:
        return "–"
    first = known[0]
    alike = [one for one in known if _measured(one) == _measured(first)]
    head, unit = first.measure, f" {_UNITS.get(first.unit, first.unit)}"
    if first.topic == first.measure and all(one.question == first.question for one in alike):
        head = joined_notes(first.topic, first.who, by=", ")  # who is compared is the same everywhere
    gaps: dict[str, list[Comparison]] = {}
    for one in sorted(alike, key=lambda other: other.gap):
        gaps.setdefault(one.subject, []).append(one)
    spans = []
    for subject in dict.fromkeys(one.subject for one in alike):
        ends = gaps[subject][0], gaps[subject][-1]
        span = " to ".join(dict.fromkeys(_gap(end).removesuffix(unit) for end in ends))
        spans.append(f"{LABELS[subject]} {span}" if len(gaps) > 1 or named else span)
    return f"{head}: {', '.join(spans)}{unit.rstrip()}"


def _measured(comparison: Comparison) -> tuple[str, str, str, str]:
    return comparison.kind, comparison.measure, comparison.unit, comparison.wanted


def _gap(comparison: Comparison) -> str:
    """The gap of a comparison with its unit; a dash without one."""
    value, unit = comparison.gap, comparison.unit
    if not math.isfinite(value):
        return "–"
    sign = "+" if unit == "points" and value > ROUNDING else ""
    told = rounded(100 * value if unit == "of instances" else value)
    return f"{comparison.bound} {sign}{told} {_UNITS.get(unit, unit)}".strip()


def _covered(coverage: Mapping[str, Any]) -> str:
    """``1 of 7 figures, 5 seeds``."""
    parts, (least, most) = [], coverage["seeds"]
    if named := coverage["figures_named"]:
        parts.append(f"{coverage['figures']} of {named} figure{'' if named == 1 else 's'}")
    if most:
        seeds = f"{least}" if least == most else f"{least} to {most}"
        parts.append("one seed" if most == 1 else f"{seeds} seeds")
    if n := coverage["lacking"]:
        parts.append(f"{n} lack{'s' if n == 1 else ''} runs")
    return ", ".join(parts) or "–"
