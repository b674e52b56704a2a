"""Findings, numbers and coverage of claims in words, for pages and the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pausefl.claims.comparisons import RATIO, Comparison
from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, ROUNDING, UNDECIDED
from pausefl.claims.verdicts import Coverage, Judged
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


def tally(outcomes: Iterable[str]) -> str:
    """Number of comparisons with each outcome: ``2 hold, 1 undecided``."""
    counts = Counter(outcomes)
    words = {HOLDS: "hold", FAILS: "fail", UNDECIDED: "undecided", NOT_RUN: "not run"}
    return ", ".join(f"{counts[outcome]} {word}" for outcome, word in words.items() if counts[outcome])


def outcomes(one: Judged) -> str:
    """How many votes on a claim have which outcome."""
    return tally(each.outcome for each in one.votes)


def effect(one: Judged) -> str:
    """The smallest and the largest gap of the votes on a claim's first measure that has one."""
    gaps = [each for each in one.votes if math.isfinite(each.gap)]
    if not gaps:
        return "–"
    first = gaps[0]
    of_measure = sorted((each for each in gaps if _same_measure(each, first)), key=lambda each: each.gap)
    ends = [f"{each.bound} {_signed(each.gap, each.unit)}".strip() for each in of_measure]
    shown = " to ".join(dict.fromkeys([ends[0], ends[-1]]))
    # Who is compared is said where it is the same everywhere.
    alike = len({each.question for each in of_measure}) == 1 and first.question.startswith(first.measure)
    name = first.question.replace(": ", ", ") if alike else first.measure
    return f"{name}: {shown} {_unit(first.unit)}".rstrip()


def _same_measure(a: Comparison, b: Comparison) -> bool:
    """Whether two comparisons want the same of the same measure, so that their gaps can be put together."""
    return (a.kind, a.measure, a.unit, a.wanted) == (b.kind, b.measure, b.unit, b.wanted)


def _signed(gap: float, unit: str, digits: int = 3) -> str:
    return ("+" if unit == "points" and gap > ROUNDING else "") + number(gap, digits)


def _unit(unit: str) -> str:
    return "times" if unit == RATIO else unit


def gap(comparison: Comparison) -> str:
    """The gap of a comparison with its unit; a dash without one."""
    if not math.isfinite(comparison.gap):
        return "–"
    shown = _signed(comparison.gap, comparison.unit, 4)
    return f"{comparison.bound} {shown} {_unit(comparison.unit)}".strip()


def covered(coverage: Coverage) -> str:
    """``3 of 17 comparisons, 1 of 7 figures, 5 seeds, paper scale``."""
    if not coverage.planned:
        return "no comparison at this scale"
    parts = [f"{coverage.made} of {_plural(coverage.planned, 'comparison')}"]
    beside = []
    if coverage.repeats:
        beside.append(f"{coverage.repeats} repeat{'s' if coverage.repeats == 1 else ''} others")
    if coverage.one_seed:
        beside.append(f"{coverage.one_seed} more of one seed")
    if beside:
        parts[0] += f" ({', '.join(beside)})"
    if coverage.figures_named:
        parts.append(f"{coverage.figures} of {_plural(coverage.figures_named, 'figure')}")
    parts.append(seeds(coverage))
    if coverage.lacking:
        parts.append(f"{coverage.lacking} lack{'s' if coverage.lacking == 1 else ''} runs")
    parts.append(f"{coverage.scale} scale" if coverage.scale else "random instances")
    return ", ".join(filter(None, parts))


def seeds(coverage: Coverage) -> str:
    """How many seeds: a number or a range; nothing if none are needed."""
    least, most = coverage.seeds
    if not most:
        return ""
    if most == 1:
        return "one seed"
    return f"{most} seeds" if least == most else f"{least} to {most} seeds"


def _plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
