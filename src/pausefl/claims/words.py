"""Findings, numbers and coverage of claims in words, for pages and the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pausefl.claims.comparisons import RATIO, Comparison
from pausefl.claims.statistics import FAILS, HOLDS, ROUNDING, UNDECIDED
from pausefl.claims.verdicts import Coverage, Judged
from pausefl.registry.selectors import LABELS
from pausefl.results import markdown

#: Comparisons and places that are named; of more, the number is told.
_MOST_NAMED = 5

Key = TypeVar("Key")
Value = TypeVar("Value")


def number(value: float | None, digits: int = 3) -> str:
    """A number in a few significant digits; 0 if it is rounding, a dash without a finite number."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    return markdown.number(value, ",.0f" if abs(value) >= 1000 else f".{digits}g")


def interval(low: float | None, high: float | None) -> str:
    """From low to high; a dash without an interval."""
    ends = [number(low), number(high)]
    return "–" if "–" in ends else " to ".join(ends)


def p_value(p: float | None) -> str:
    """A p-value; a dash without one."""
    if p is None or math.isnan(p):
        return "–"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def failing(one: Judged) -> str:
    """What its failures mean, if there are some and the claim says that."""
    return one.claim.failing if one.coverage.fails else ""


def needed(one: Judged) -> str:
    """What each comparison needs: ``time to the target: ratio < 1``."""
    topics = _grouped((each.wanted, each.topic) for each in one.comparisons)
    return "; ".join(f"{_listed(dict.fromkeys(names))}: {wanted}" for wanted, names in topics.items())


def outcomes(coverage: Coverage) -> str:
    """How many comparisons hold, fail and are open, and how many have no vote."""
    votes = ((coverage.holds, "hold"), (coverage.fails, "fail"), (coverage.open, "open"))
    others = (
        (coverage.one_seed, "of one seed"),
        (coverage.repeats, "repeated"),
        (coverage.not_run, "not run"),
    )
    voted = ", ".join(f"{n} {what}" for n, what in votes) if any(n for n, _ in votes) else ""
    return "; ".join(filter(None, [voted, ", ".join(f"{n} {what}" for n, what in others if n)])) or "none"


def why(one: Judged) -> str:
    """Why not every comparison holds: which fail, what leaves the others open, what has no vote."""
    votes = [each for each in one.votes if not each.of_one_seed]
    if not votes:
        return "One seed decides nothing" if one.coverage.one_seed else "No run was made"
    parts = []
    if fails := [each for each in votes if each.outcome == FAILS]:
        gaps = _grouped((_said(each), f"{gap(each)} ({_place(one, each)})") for each in fails[:_MOST_NAMED])
        named = "; ".join(f"{said}: {_listed(of)}" for said, of in gaps.items())
        more = len(fails) - _MOST_NAMED
        parts.append(f"Fails: {named}" + (f"; and {more} more" if more > 0 else ""))
    undecided = _grouped((each.alone, each) for each in votes if each.outcome == UNDECIDED)
    for alone, verb in ((HOLDS, "hold"), (FAILS, "fail")):
        if of := undecided.get(alone, []):
            told = f"{len(of)} would {verb} if tested alone, not among {len(votes)}"
            parts.append(f"{told}: {_places(one, of)}")
    if of := undecided.get("", []):
        parts.append(f"{len(of)} cannot be told from the limit: {_places(one, of)}")
    judged = {each.part for each in votes}
    lacking = _grouped((each.topic, each) for each in one.comparisons if each.part not in judged)
    parts += [f"No vote on {topic}: {_places(one, of)}" for topic, of in lacking.items()]
    return ". ".join(parts) or "Every vote holds"


def _places(one: Judged, comparisons: Iterable[Comparison]) -> str:
    """Where some comparisons are, each place once; the first few."""
    places = list(dict.fromkeys(_place(one, each) for each in comparisons))
    more = len(places) - _MOST_NAMED
    return _listed([*places[:_MOST_NAMED], f"{more} more"] if more > 0 else places)


def _place(one: Judged, comparison: Comparison) -> str:
    """The figures of a claim that show a comparison; else its scenario."""
    figures = [name for name, figure in one.claim.figures.items() if figure.shows(comparison)]
    told = comparison.note if comparison.kind == "share" else comparison.where
    return ", ".join(figures) or told


def _said(comparison: Comparison) -> str:
    return ", ".join(filter(None, (comparison.topic, comparison.who)))


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def effect(one: Judged) -> str:
    """The smallest and the largest gap of the votes on a claim's first measure that has one, by selector."""
    gaps = [each for each in one.votes if math.isfinite(each.gap)]
    if not gaps:
        return "–"
    first = gaps[0]
    alike = [
        each
        for each in gaps
        if (each.kind, each.measure, each.unit, each.wanted)
        == (first.kind, first.measure, first.unit, first.wanted)
    ]
    # Who is compared is said where it is the same everywhere.
    same = len({each.question for each in alike}) == 1 and first.topic == first.measure
    return f"{_said(first) if same else first.measure}: {_ranges(alike)}"


def authors(one: Judged) -> str:
    """The same of the authors' own runs; a dash where their logs do not tell."""
    known = [
        replace(each, gap=each.authors, bound="") for each in one.comparisons if math.isfinite(each.authors)
    ]
    alike = [each for each in known if (each.topic, each.wanted) == (known[0].topic, known[0].wanted)]
    return f"{known[0].topic}: {_ranges(alike)}" if known else "–"


def _ranges(comparisons: Sequence[Comparison]) -> str:
    """From the smallest to the largest gap, of each selector: ``PAUSE 0.59 to 0.84, SA-PAUSE 0.95 times``."""
    unit = " " + _UNITS.get(comparisons[0].unit, comparisons[0].unit)
    told = []
    subjects = _grouped((each.subject, each) for each in comparisons)
    for subject, of in subjects.items():
        of.sort(key=lambda each: each.gap)
        span = " to ".join(dict.fromkeys(gap(each).removesuffix(unit) for each in (of[0], of[-1])))
        told.append(f"{LABELS[subject]} {span}" if len(subjects) > 1 else span)
    return ", ".join(told) + unit.rstrip()


_UNITS = {RATIO: "times", "of instances": "% of instances"}


def gap(comparison: Comparison) -> str:
    """The gap of a comparison with its unit; a dash without one."""
    value, unit = comparison.gap, comparison.unit
    if not math.isfinite(value):
        return "–"
    sign = "+" if unit == "points" and value > ROUNDING else ""
    told = number(100 * value if unit == "of instances" else value)
    return f"{comparison.bound} {sign}{told} {_UNITS.get(unit, unit)}".strip()


def covered(coverage: Coverage) -> str:
    """``1 of 7 figures, 5 seeds``; a dash if the claim names no figure and needs no seeds."""
    parts, (least, most) = [], coverage.seeds
    if named := coverage.figures_named:
        parts.append(f"{coverage.figures} of {named} figure{'' if named == 1 else 's'}")
    if most:
        several = f"{most} seeds" if least == most else f"{least} to {most} seeds"
        parts.append("one seed" if most == 1 else several)
    if coverage.lacking:
        parts.append(f"{coverage.lacking} lack{'s' if coverage.lacking == 1 else ''} runs")
    return ", ".join(parts) or "–"
