"""Times in words, and the bar."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pausefl.progress import about

UNITS = {"s": 1, "min": 60, "h": 3600}


@given(st.floats(10.5, 1e7))
def test_an_estimate_never_promises_less_and_has_few_digits(seconds: float) -> None:
    found = re.fullmatch(r"about ([\d.]+) (s|min|h)", about(seconds))
    assert found is not None
    promised = float(found[1]) * UNITS[found[2]]
    assert seconds <= promised * (1 + 1e-9)
    assert promised <= max(2 * seconds, seconds + 3600)
