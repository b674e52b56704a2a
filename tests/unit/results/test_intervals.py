"""Intervals, against textbooks' values."""

from __future__ import annotations

import pytest

from pausefl.results.intervals import wilson


@pytest.mark.parametrize(
    ("n_won", "n", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0), (983, 1000, 0.9729, 0.9893)],
)
def test_interval_is_wilsons(n_won: int, n: int, low: float, high: float) -> None:
    assert wilson(n_won, n) == pytest.approx((low, high), abs=1e-4)
