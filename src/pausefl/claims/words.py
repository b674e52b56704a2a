"""Findings, numbers and coverage of claims in words, for pages and the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pausefl.claims.comparisons import RATIO, Comparison
from pausefl.claims.statistics import FAILS, HOLDS, ROUNDING, UNDECIDED
from pausefl.claims.verdicts import Coverage, Judged
from pausefl.registry.selectors import LABELS
from pausefl.results import markdown


def number(value: float | None, digits: int = 3) -> str:
    """A number in a few significant digits; 0 if it is rounding, a dash without a finite number."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    return markdown.number(value, ",.0f" if abs(value) >= 1000 else f".{digits}g")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """From low to high; a dash without an interval."""
    ends = [number(low, digits), number(high, digits)]
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
    measures: dict[str, list[str]] = {}
    for each in one.comparisons:
        measures.setdefault(each.wanted, []).append(each.question.partition(":")[0])
    return "; ".join(f"{_listed(dict.fromkeys(names))}: {wanted}" for wanted, names in measures.items())


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


#: Comparisons and places that are named; of more, the number is told.
_MOST_NAMED = 5


def why(one: Judged) -> str:
    """Why not every comparison holds: which fail, what leaves the others open, what has no vote."""
    votes = [each for each in one.votes if not each.of_one_seed]
    if not votes:
        return "One seed decides nothing" if one.coverage.one_seed else "No run was made"
    parts = []
    if fails := [each for each in votes if each.outcome == FAILS]:
        parts.append(f"Fails: {_named(one, fails)}")
    undecided = [each for each in votes if each.outcome == UNDECIDED]
    for alone, verb in ((HOLDS, "hold"), (FAILS, "fail")):
        if of := [each for each in undecided if each.alone == alone]:
            parts.append(
                f"{len(of)} would {verb} if tested alone, not among {len(votes)}: {_places(one, of)}"
            )
    if reach := [each for each in undecided if not each.alone]:
        parts.append(f"{len(reach)} cannot be told from the limit: {_places(one, reach)}")
    judged = {each.part for each in votes}
    lacking: dict[str, list[Comparison]] = {}
    for each in one.comparisons:
        if each.part not in judged:
            lacking.setdefault(each.question.partition(":")[0], []).append(each)
    parts += [f"No vote on {measure}: {_places(one, of)}" for measure, of in lacking.items()]
    return ". ".join(parts) or "Every vote holds"


def _named(one: Judged, comparisons: Sequence[Comparison]) -> str:
    """Comparisons by question, with the gap and place of each; the first few."""
    found: dict[str, list[str]] = {}
    for each in comparisons[:_MOST_NAMED]:
        question = each.question.replace(":", ",", 1)
        found.setdefault(question, []).append(f"{gap(each, 3)} ({place(one, each)})")
    named = "; ".join(f"{question}: {_listed(gaps)}" for question, gaps in found.items())
    more = len(comparisons) - _MOST_NAMED
    return f"{named}; and {more} more" if more > 0 else named


def _places(one: Judged, comparisons: Iterable[Comparison]) -> str:
    """Where some comparisons are, each place once; the first few."""
    places = list(dict.fromkeys(place(one, each) for each in comparisons))
    more = len(places) - _MOST_NAMED
    return _listed([*places[:_MOST_NAMED], f"{more} more"] if more > 0 else places)


def place(one: Judged, comparison: Comparison) -> str:
    """The figures of a claim that show a comparison; else its scenario, or its instances."""
    figures = [
        name
        for name, figure in one.claim.figures.items()
        if comparison.where in figure.of and comparison.subject not in figure.lacks
    ]
    told = comparison.note if comparison.kind == "share" else comparison.where
    return ", ".join(figures) or told or "random instances"


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def effect(one: Judged) -> str:
    """The smallest and the largest gap of the votes on a claim's first measure that has one, by selector."""
    gaps = [each for each in one.votes if math.isfinite(each.gap)]
    if not gaps:
        return "–"
    first = gaps[0]
    of_measure = [each for each in gaps if _same_measure(each, first)]
    # Who is compared is said where it is the same everywhere.
    alike = len({each.question for each in of_measure}) == 1 and first.question.startswith(first.measure)
    name = first.question.replace(": ", ", ") if alike else first.measure
    return f"{name}: {_ranges(of_measure)}"


def authors(one: Judged) -> str:
    """The same of the authors' own runs; a dash where their logs do not tell."""
    known = [replace(each, gap=each.authors) for each in one.comparisons if math.isfinite(each.authors)]
    if not known:
        return "–"
    measure, wanted = known[0].question.partition(":")[0], known[0].wanted
    alike = [each for each in known if each.question.startswith(f"{measure}:") and each.wanted == wanted]
    return f"{measure}: {_ranges([replace(each, bound='') for each in alike])}"


def _ranges(comparisons: Sequence[Comparison]) -> str:
    """From the smallest to the largest gap, of each selector: ``PAUSE 0.59 to 0.84, SA-PAUSE 0.95 times``."""
    unit = " " + _unit(comparisons[0].unit)
    found: dict[str, list[Comparison]] = {}
    for each in sorted(comparisons, key=lambda each: each.gap):
        found.setdefault(each.subject, []).append(each)
    told = []
    for subject in sorted(found, key=[each.subject for each in comparisons].index):
        ends = (found[subject][0], found[subject][-1])
        span = " to ".join(dict.fromkeys(gap(each, 3).removesuffix(unit) for each in ends))
        told.append(f"{LABELS[subject]} {span}" if len(found) > 1 else span)
    return ", ".join(told) + unit.rstrip()


def _same_measure(a: Comparison, b: Comparison) -> bool:
    """Whether two comparisons want the same of the same measure, so that their gaps can be put together."""
    return (a.kind, a.measure, a.unit, a.wanted) == (b.kind, b.measure, b.unit, b.wanted)


def _with_unit(value: float, unit: str, digits: int) -> str:
    if unit == "of instances":
        return f"{number(100 * value, digits)} {_unit(unit)}"
    sign = "+" if unit == "points" and value > ROUNDING else ""
    return f"{sign}{number(value, digits)} {_unit(unit)}".rstrip()


def _unit(unit: str) -> str:
    return {RATIO: "times", "of instances": "% of instances"}.get(unit, unit)


def gap(comparison: Comparison, digits: int = 4) -> str:
    """The gap of a comparison with its unit; a dash without one."""
    if not math.isfinite(comparison.gap):
        return "–"
    return f"{comparison.bound} {_with_unit(comparison.gap, comparison.unit, digits)}".strip()


def covered(coverage: Coverage) -> str:
    """``1 of 7 figures, 5 seeds``; a dash if the claim names no figure and needs no seeds."""
    parts = [seeds(coverage)]
    if coverage.figures_named:
        plural = "" if coverage.figures_named == 1 else "s"
        parts.insert(0, f"{coverage.figures} of {coverage.figures_named} figure{plural}")
    if coverage.lacking:
        parts.append(f"{coverage.lacking} lack{'s' if coverage.lacking == 1 else ''} runs")
    return ", ".join(filter(None, parts)) or "–"


def seeds(coverage: Coverage) -> str:
    """How many seeds: a number or a range; nothing if none are needed."""
    least, most = coverage.seeds
    if not most:
        return ""
    if most == 1:
        return "one seed"
    return f"{most} seeds" if least == most else f"{least} to {most} seeds"
