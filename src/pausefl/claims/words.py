"""Numbers and outcomes of claims in words, for pages and the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, ROUNDING, UNDECIDED


def number(value: float | None, digits: int = 3) -> str:
    """A number in a few significant digits; 0 if it is rounding, a dash without a finite number."""
    if value is None or not math.isfinite(value):
        return "–"
    if abs(value) < ROUNDING:
        return "0"
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}").replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """From low to high; a dash without an interval."""
    ends = [number(low, digits), number(high, digits)]
    return "–" if "–" in ends else " to ".join(ends)


def tally(outcomes: Iterable[str]) -> str:
    """Number of comparisons with each outcome: ``2 hold, 1 undecided``."""
    counts = Counter(outcomes)
    words = {HOLDS: "hold", FAILS: "fail", UNDECIDED: "undecided", NOT_RUN: "not run"}
    return ", ".join(f"{counts[outcome]} {word}" for outcome, word in words.items() if counts[outcome])


def gaps(tests: Iterable[Mapping[str, Any]]) -> list[str]:
    """Gap and interval of each unit; of several tests the least and greatest.

    Parameters
    ----------
    tests
        With ``gap``, ``low``, ``high`` (None if missing) and ``unit``.
    """
    by_unit: dict[str, list[Mapping[str, Any]]] = {}
    for test in tests:
        if test["gap"] is not None:
            by_unit.setdefault(test["unit"], []).append(test)
    lines = []
    for unit, several in by_unit.items():
        low, high = min(test["gap"] for test in several), max(test["gap"] for test in several)
        ends = [test[end] for test in several for end in ("low", "high") if test[end] is not None]
        first, last = number(low, 4), number(high, 4)
        line = first if first == last else f"{first} to {last}"
        line += f" [{number(min(ends))}, {number(max(ends))}]" if ends else " [no interval]"
        lines.append(f"{line} {unit}".rstrip())
    return lines
