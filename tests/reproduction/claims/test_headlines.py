"""The comparisons that open the report and the pages."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pausefl.reproduction.claims import headlines
from pausefl.reproduction.claims.comparison_result import RATIO, Comparison
from pausefl.reproduction.claims.load import load_headlines
from pausefl.reproduction.pages.published import Published

ONE = Comparison("ordering", "there", "time", "PAUSE against Random", "< 1", "holds", seeds=tuple(range(5)))


@pytest.mark.parametrize(
    ("gap", "low", "high", "unit", "bound", "words"),
    [
        (0.61, 0.54, 0.69, RATIO, "", "39 % less (31 to 46 %)"),
        (1.59, 1.58, 1.60, RATIO, "", "59 % more (58 to 60 %)"),
        (0.9, 0.7, 1.1, RATIO, "", "no clear difference (30 % less to 10 % more)"),
        (0.67, math.nan, math.nan, RATIO, "at least", "at most 33 % less"),
        (0.67, math.nan, math.nan, RATIO, "at most", "at least 33 % less"),
        (1.5, math.nan, math.nan, RATIO, "at least", "at least 50 % more"),
        (-2.1, -3.0, -1.2, "points", "", "2.1 points lower (1.2 to 3.0 points)"),
        (-1.5, -3.0, -0.042, "points", "", "1.5 points lower (0.04 to 3.0 points)"),
        (math.nan, math.nan, math.nan, "s", "", "not reached"),
    ],
)
def test_a_gap_is_told_by_how_much_less_or_more_it_is(
    gap: float, low: float, high: float, unit: str, bound: str, words: str
) -> None:
    assert headlines.in_words(replace(ONE, gap=gap, low=low, high=high, unit=unit, bound=bound)) == words


def test_why_a_bound_is_one_and_what_a_correction_takes_away_is_said() -> None:
    bound = replace(ONE, gap=0.67, unit=RATIO, bound="at least", note="PAUSE ends early in 1 of 10 seeds")
    assert headlines.in_words(bound) == "at most 33 % less (PAUSE ends early in 1 of 10 seeds)"
    open_ = replace(ONE, gap=0.5, low=0.4, high=0.6, unit=RATIO, alone="holds", seeds=(0, 1))
    words = "50 % less (40 to 60 %; two seeds; not decided once corrected for the number of comparisons)"
    assert headlines.in_words(open_) == words


def test_one_seed_is_said() -> None:
    assert headlines.in_words(replace(ONE, gap=0.5, unit=RATIO, seeds=(0,))) == "50 % less (one seed)"


def test_each_headline_is_answered_by_a_comparison_of_its_claim(published: Published) -> None:
    asked = load_headlines(published.root / "config/claims.yaml")
    rows = headlines.answers(asked, published.judged)
    assert [row["question"] for row in rows] == [one.question for one in asked]
    of = {one.claim.id: one for one in published.judged if one.reading == "as written"}
    (time,) = (one for one in of["C3a"].comparisons if one.where == asked[0].scenario and "Random" in one.who)
    assert rows[0]["found"]["as written"] == headlines.in_words(time)
