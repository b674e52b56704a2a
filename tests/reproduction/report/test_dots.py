"""Dots of verdicts: where they are, what they say, and which comparisons have none."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pausefl.reproduction.report.dots import LEFT, RIGHT, strips

MIDDLE = (LEFT + RIGHT) / 2


def compared(gap: float | None, unit: str = "ratio", **changes: Any) -> dict[str, Any]:
    one = {"gap": gap, "low": None, "high": None, "unit": unit, "outcome": "holds", "where": "there"}
    return (
        one | {"question": "time: A against B", "wanted": "ratio < 1", "bound": "", "repeats": ""} | changes
    )


def named(name: str) -> str:
    return name.upper()


def test_no_difference_is_in_the_middle_and_ratios_are_as_far_as_their_inverses() -> None:
    (ratios,) = strips([compared(1.0), compared(0.5), compared(2.0)], named)
    even, half, double = (dot.x for dot in ratios.dots)
    assert even == pytest.approx(MIDDLE)
    assert even - half == pytest.approx(double - even)
    (points,) = strips([compared(0.0, "points"), compared(15.0, "points")], named)
    assert [dot.x for dot in points.dots] == pytest.approx([MIDDLE, (MIDDLE + RIGHT) / 2])


def test_a_gap_beyond_the_axis_stands_at_its_end() -> None:
    (strip,) = strips([compared(100.0), compared(0.0001), compared(0.0)], named)
    assert [(dot.x, dot.beyond) for dot in strip.dots] == [(RIGHT, 1), (LEFT, -1), (LEFT, -1)]


def test_an_interval_is_around_its_dot_and_in_its_words() -> None:
    (strip,) = strips([compared(0.8, low=0.7, high=0.9, outcome="undecided", bound="at most")], named)
    (dot,) = strip.dots
    assert dot.low < dot.x < dot.high
    assert dot.words == "THERE: time: A against B: at most 0.8 (0.7 to 0.9); undecided"


def test_units_and_wishes_are_apart_and_what_has_no_gap_or_repeats_has_no_dot() -> None:
    made = [
        compared(0.5),
        compared(3.0, "points"),
        compared(None),
        compared(math.nan),
        compared(0.5, repeats="it"),
    ]
    made.append(compared(0.6, wanted="ratio > 1"))
    assert [len(strip.dots) for strip in strips(made, named)] == [1, 1, 1]


def test_an_axis_of_another_unit_has_all_its_intervals() -> None:
    (strip,) = strips([compared(0.8, "of instances", low=0.2, high=0.9, wanted="share ≥ 0.95")], named)
    assert (strip.axis.least, strip.axis.most, strip.wanted) == (0, 1, "share ≥ 0.95")
    (strip,) = strips([compared(2.0, "", low=-0.5, high=2.5, wanted="exponent > 0.9")], named)
    assert (strip.axis.least, strip.axis.most) == (-0.5, 2.5)


@pytest.mark.parametrize(
    ("wanted", "ends"),
    [
        ("ratio < 1", (LEFT, MIDDLE)),
        ("ratio > 1", (MIDDLE, RIGHT)),
        ("ratio from 0.5 to 2", (LEFT + 34, RIGHT - 34)),
        ("at most as K log K", None),
    ],
)
def test_where_gaps_are_wanted_is_a_part_of_the_axis(wanted: str, ends: tuple[float, float] | None) -> None:
    (strip,) = strips([compared(0.8, wanted=wanted)], named)
    assert strip.zone == (ends and pytest.approx(ends, abs=1))


def test_a_wish_below_zero_is_to_the_left_of_it() -> None:
    (strip,) = strips([compared(1.0, "points", wanted="points > −5")], named)
    assert strip.zone is not None
    assert LEFT < strip.zone[0] < MIDDLE
    assert strip.zone[1] == RIGHT
