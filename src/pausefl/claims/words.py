"""Verdicts in words, for pages, files and the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pausefl.claims.comparison import RATIO, Comparison, joined
from pausefl.claims.records import Records
from pausefl.claims.statistics import FAILS, HOLDS, ROUNDING, UNDECIDED
from pausefl.claims.verdicts import Coverage, Verdict
from pausefl.results import markdown
from pausefl.selectors import LABELS

#: Comparisons and places that are named; of more, the number is told.
_MOST_NAMED = 5

#: How the unit of a gap is told, where that is not its name.
_UNITS = {RATIO: "times", "of instances": "% of instances"}


def describe(verdict: Verdict) -> dict[str, str]:
    """A verdict in words.

    Returns
    -------
    dict
        ``failing``: what its failures mean, if the claim says that. ``needed``: what each comparison needs.
        ``outcomes``: how many hold, fail and are open, and how many have no vote. ``why`` not every one
        holds. ``effect``: the smallest and the largest gap of the votes on the claim's first measure.
        ``authors``: the same of the authors' runs. ``covered``: figures and seeds. A dash if there is none.
    """
    return {
        "failing": verdict.claim.failing if verdict.coverage.fails else "",
        "needed": _needed(verdict),
        "outcomes": _outcomes(verdict.coverage),
        "why": _why(verdict),
        "effect": _effect(verdict),
        "authors": _authors(verdict),
        "covered": _covered(verdict.coverage),
    }


def extent(records: Records) -> str:
    """How many runs and tables were found, and how many are missing."""
    seeds = Counter((run.scenario, run.selector) for run in records.runs_found).values()
    of = f" ({_span([str(min(seeds)), str(max(seeds))])} seeds of a selector)" if seeds else ""
    missing = f"; {len(records.missing)} missing (names: --missing)" if records.missing else ""
    return f"{sum(seeds)} runs{of}, {len(records.tables_found)} tables of studies{missing}"


def rounded(value: float | None, digits: int = 3) -> str:
    """A number in a few significant digits; 0 if it is rounding, a dash without a finite number."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    return markdown.number(value, ",.0f" if abs(value) >= 1000 else f".{digits}g")


def _needed(verdict: Verdict) -> str:
    """``time to the target: ratio < 1``."""
    groups = _grouped(verdict.comparisons, lambda each: each.wanted)
    return "; ".join(f"{_listed(each.topic for each in of)}: {wanted}" for wanted, of in groups.items())


def _outcomes(coverage: Coverage) -> str:
    """``3 hold, 0 fail, 1 open; 2 of one seed``."""
    votes = {"hold": coverage.holds, "fail": coverage.fails, "open": coverage.open}
    others = {"of one seed": coverage.one_seed, "repeated": coverage.repeats, "not run": coverage.not_run}
    voted = ", ".join(f"{n} {what}" for what, n in votes.items() if any(votes.values()))
    return joined(voted, ", ".join(f"{n} {what}" for what, n in others.items() if n)) or "none"


def _why(verdict: Verdict) -> str:
    """Which comparisons fail, what leaves others open, what has no vote."""
    votes = [each for each in verdict.votes if not each.of_one_seed]
    if not votes:
        return "One seed decides nothing" if verdict.coverage.one_seed else "No run was made"
    open_votes = [each for each in votes if each.outcome == UNDECIDED]
    voted = {each.part for each in votes}
    silent = [each for each in verdict.comparisons if each.part not in voted]
    parts = [_fails(verdict, [each for each in votes if each.outcome == FAILS])]
    for alone, verb in ((HOLDS, "hold"), (FAILS, "fail")):
        if of := [each for each in open_votes if each.alone == alone]:
            told = f"{len(of)} would {verb} if tested alone, not among {len(votes)}"
            parts.append(f"{told}: {_places(verdict, of)}")
    if of := [each for each in open_votes if not each.alone]:
        parts.append(f"{len(of)} cannot be told from the limit: {_places(verdict, of)}")
    for topic, of in _grouped(silent, lambda each: each.topic).items():
        parts.append(f"No vote on {topic}: {_places(verdict, of)}")
    return ". ".join(filter(None, parts)) or "Every vote holds"


def _fails(verdict: Verdict, fails: Sequence[Comparison]) -> str:
    """The first comparisons that fail, with their gaps."""
    questions = _grouped(fails[:_MOST_NAMED], _question)
    named = [
        f"{question}: {_listed(f'{_gap(each)} ({_place(verdict, each)})' for each in of)}"
        for question, of in questions.items()
    ]
    more = len(fails) - _MOST_NAMED
    return f"Fails: {joined(*named, f'and {more} more' if more > 0 else '')}" if fails else ""


def _places(verdict: Verdict, comparisons: Iterable[Comparison]) -> str:
    """Where some comparisons are, each place once; the first few."""
    places = list(dict.fromkeys(_place(verdict, each) for each in comparisons))
    more = len(places) - _MOST_NAMED
    return _listed([*places[:_MOST_NAMED], f"{more} more"] if more > 0 else places)


def _place(verdict: Verdict, comparison: Comparison) -> str:
    """The figures of a claim that show a comparison; else its scenario, or the instances of a share."""
    figures = [name for name, figure in verdict.claim.figures.items() if figure.shows(comparison)]
    return ", ".join(figures) or (comparison.note if comparison.kind == "share" else comparison.where)


def _effect(verdict: Verdict) -> str:
    votes = [each for each in verdict.votes if math.isfinite(each.gap)]
    if not votes:
        return "–"
    first, *others = alike = _first_of(votes, lambda each: (each.kind, each.measure, each.unit, each.wanted))
    # Who is compared is said where it is the same everywhere.
    same = first.topic == first.measure and all(each.question == first.question for each in others)
    return f"{_question(first) if same else first.measure}: {_ranges(alike)}"


def _authors(verdict: Verdict) -> str:
    known = [each for each in verdict.comparisons if math.isfinite(each.authors)]
    if not known:
        return "–"
    alike = _first_of(known, lambda each: (each.topic, each.wanted))
    return f"{alike[0].topic}: {_ranges([replace(each, gap=each.authors, bound='') for each in alike])}"


def _ranges(comparisons: Sequence[Comparison]) -> str:
    """From the smallest to the largest gap, of each selector: ``PAUSE 0.59 to 0.84, SA-PAUSE 0.95 times``."""
    unit = " " + _UNITS.get(comparisons[0].unit, comparisons[0].unit)
    told = []
    subjects = _grouped(comparisons, lambda each: each.subject)
    for subject, of in subjects.items():
        ends = (min(of, key=lambda each: each.gap), max(of, key=lambda each: each.gap))
        span = _span([_gap(each).removesuffix(unit) for each in ends])
        told.append(f"{LABELS[subject]} {span}" if len(subjects) > 1 else span)
    return ", ".join(told) + unit.rstrip()


def _gap(comparison: Comparison) -> str:
    """The gap of a comparison with its unit; a dash without one."""
    value, unit = comparison.gap, comparison.unit
    if not math.isfinite(value):
        return "–"
    sign = "+" if unit == "points" and value > ROUNDING else ""
    told = rounded(100 * value if unit == "of instances" else value)
    return f"{comparison.bound} {sign}{told} {_UNITS.get(unit, unit)}".strip()


def _covered(coverage: Coverage) -> str:
    """``1 of 7 figures, 5 seeds``."""
    parts, (least, most) = [], coverage.seeds
    if named := coverage.figures_named:
        parts.append(f"{coverage.figures} of {named} figure{'' if named == 1 else 's'}")
    if most:
        parts.append("one seed" if most == 1 else f"{_span([str(least), str(most)])} seeds")
    if coverage.lacking:
        parts.append(f"{coverage.lacking} lack{'s' if coverage.lacking == 1 else ''} runs")
    return ", ".join(parts) or "–"


def _question(comparison: Comparison) -> str:
    return ", ".join(filter(None, (comparison.topic, comparison.who)))


def _span(ends: Iterable[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def _listed(names: Iterable[str]) -> str:
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last}" if first else last


def _grouped(items: Iterable[Comparison], key: Callable[[Comparison], Any]) -> dict[Any, list[Comparison]]:
    groups: dict[Any, list[Comparison]] = {}
    for each in items:
        groups.setdefault(key(each), []).append(each)
    return groups


def _first_of(items: Iterable[Comparison], key: Callable[[Comparison], Any]) -> list[Comparison]:
    """Those that are like the first of some comparisons."""
    return next(iter(_grouped(items, key).values()))
