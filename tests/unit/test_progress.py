"""Times in words, and the bar."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.progress import about, took

UNITS = {"s": 1, "min": 60, "h": 3600}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7800, "2 h 10 min"),
    ],
)
def test_time_that_has_passed(seconds: float, words: str) -> None:
    assert took(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds"),
        (11, "about 20 s"),
        (601, "about 15 min"),
        (3700, "about 1.5 h"),
        (37_000, "about 11 h"),
    ],
)
def test_an_estimate_in_words(seconds: float, words: str) -> None:
    assert about(seconds) == words


@given(st.floats(10.5, 1e7))
def test_an_estimate_never_promises_less_and_has_few_digits(seconds: float) -> None:
    found = re.fullmatch(r"about ([\d.]+) (s|min|h)", about(seconds))
    assert found is not None
    promised = float(found[1]) * UNITS[found[2]]
    assert seconds <= promised * (1 + 1e-9)
    assert promised <= max(2 * seconds, seconds + 3600)
