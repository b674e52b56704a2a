"""Verdicts at a glance: a dot for each comparison of a claim, with its interval, beside those of its unit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pausefl.analysis.formats import rounded
from pausefl.reproduction.claims.comparison_result import RATIO

#: In the units of the picture: its width, the ends of the axis, the space between two dots, that of the axis.
WIDTH, LEFT, RIGHT, STEP, BELOW = 300, 12, 288, 6, 28

#: A comparison in plain values, as `pausefl.reproduction.claims.formats` writes it.
Comparison = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """An axis, which ends at ``least`` and ``most``; what lies beyond is shown at its end."""

    least: float
    most: float
    #: Words of each tick.
    ticks: Mapping[float, str]
    #: The value without a difference; NaN if there is none.
    even: float = math.nan
    logarithmic: bool = False

    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 at its left end, 1 at its right end, less or more beyond."""
        if not self.logarithmic:
            return (value - self.least) / (self.most - self.least)
        return math.log(value / self.least) / math.log(self.most / self.least) if value > 0 else -math.inf

    def place(self, value: float) -> float:
        """Where a value is in the picture, on the axis."""
        return LEFT + (RIGHT - LEFT) * min(max(self.share(value), 0.0), 1.0)


#: Axes of the units that most comparisons have.
_AXES = {
    RATIO: Axis(0.4, 2.5, {0.5: "½", 1: "1", 2: "2"}, 1, logarithmic=True),
    "points": Axis(-30, 30, {-30: "−30", -15: "−15", 0: "0", 15: "15", 30: "30"}, 0),
}


@dataclass(frozen=True)
class Dot:
    """A comparison: where its gap and its interval are in the picture."""

    x: float
    y: float
    #: The same as ``x`` without an interval.
    low: float
    high: float
    #: ``holds``, ``fails`` or ``undecided``.
    outcome: str
    #: Whether it is a bound: a run ended before the target.
    bound: bool
    #: -1 or 1 where the gap, and where an end of the interval, lies beyond that end of the axis, else 0.
    beyond: int
    cut: tuple[int, int]
    words: str


@dataclass(frozen=True)
class Strip:
    """The comparisons of a claim that have one unit and of which the same was wanted."""

    axis: Axis
    dots: list[Dot]
    wanted: str

    @property
    def zone(self) -> tuple[float, float] | None:
        """Where on the axis the gaps are wanted; None where the wish is no bound on them."""
        if between := re.search(r"from (−?[\d.]+) to (−?[\d.]+)", self.wanted):
            return self.axis.place(_value(between[1])), self.axis.place(_value(between[2]))
        if bound := re.search(r"([<>≤≥]) (−?[\d.]+)", self.wanted):
            x = self.axis.place(_value(bound[2]))
            return (LEFT, x) if bound[1] in "<≤" else (x, RIGHT)
        return None

    @property
    def bottom(self) -> float:
        """Where the axis is."""
        return STEP * (len(self.dots) + 0.5)


def strips(comparisons: Iterable[Comparison], title_of: Callable[[str], str]) -> list[Strip]:
    """A strip for each unit and wish of some comparisons; ``title_of`` names a scenario or study.

    Repeats, and comparisons that were not made, have no dot.
    """
    alike: dict[tuple[str, str], list[Comparison]] = {}
    for one in comparisons:
        if not one["repeats"] and _known(one["gap"]):
            alike.setdefault((one["unit"], one["wanted"]), []).append(one)
    return [_strip(_axis(unit, made), made, wanted, title_of) for (unit, wanted), made in alike.items()]


def _value(words: str) -> float:
    """A number that has a minus sign, if any."""
    return float(words.replace("−", "-"))


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _axis(unit: str, made: Iterable[Comparison]) -> Axis:
    """The axis of a unit; of one that is rare it ends where its intervals do."""
    if unit in _AXES:
        return _AXES[unit]
    ends = [one[end] for one in made for end in ("low", "gap", "high") if _known(one[end])]
    least, most = min(0.0, *ends), max(1.0, *ends)
    return Axis(least, most, {least: rounded(least, 2), most: rounded(most, 2)})


def _strip(axis: Axis, made: list[Comparison], wanted: str, title_of: Callable[[str], str]) -> Strip:
    dots = []
    for i, one in enumerate(made):
        gap, has_interval = one["gap"], _known(one["low"]) and _known(one["high"])
        low, high = (one["low"], one["high"]) if has_interval else (gap, gap)
        interval = f" ({rounded(low)} to {rounded(high)})" if has_interval else ""
        bound = f"{one['bound']} " if one["bound"] else ""
        measured = f"{bound}{rounded(gap)}{interval}; {one['outcome']}"
        words = f"{title_of(one['where'])}: {one['question']}: {measured}"
        beyond, *cut = ((axis.share(value) > 1) - (axis.share(value) < 0) for value in (gap, low, high))
        places = axis.place(gap), STEP * (i + 0.75), axis.place(low), axis.place(high)
        dots.append(Dot(*places, one["outcome"], bool(bound), beyond, (cut[0], cut[1]), words))
    return Strip(axis, dots, wanted)
