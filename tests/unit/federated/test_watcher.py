"""What a job says of itself while it runs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.federated.watcher import Watcher, told


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def row(t: int, **values: float) -> dict[str, float]:
    return {"round": t, "elapsed_s": 0.5 * t, "leakage_max": 0.25 * t, **values}


class World:
    """A job of which a test says how long its rounds take."""

    def __init__(self, n_rounds: int, done: int = 0, horizon: float = math.inf, **values: float) -> None:
        self.clock, self.values = Clock(), values
        self.watcher = Watcher(n_rounds, self.clock, horizon)
        self.rows: list[Mapping[str, Any]] = [row(t, **values) for t in range(1, done + 1)]
        self.watcher.note(self.rows)

    def round(self, seconds: float) -> None:
        self.clock.now += seconds
        t = len(self.rows) + 1
        self.rows.append(row(t, **self.values))
        self.watcher(t)


def test_the_first_round_gives_no_estimate_and_does_not_count_in_later_ones() -> None:
    world = World(12, accuracy=0.4321, loss=1.5)
    world.round(90)
    assert world.watcher.seconds_left is None
    assert "no estimate yet" in world.watcher.line()
    world.round(2)
    world.round(4)
    assert world.watcher.seconds_left == pytest.approx(9 * 3)
    line = "round 3 of 12, 1.5 simulated s, accuracy 43.2%, largest leakage 0.75, about 30 s left"
    assert world.watcher.line() == line
    assert world.watcher.brief() == "round 3 of 12, accuracy 43.2%, about 30 s left"


@given(st.lists(st.floats(0, 100), min_size=2, max_size=30), st.integers(0, 20), st.floats(0, 1000))
def test_estimates_are_never_negative_and_zero_at_the_end(
    seconds: list[float], more: int, wait: float
) -> None:
    world = World(len(seconds) + more)
    for one in seconds:
        world.round(one)
    world.clock.now += wait
    left = world.watcher.seconds_left
    assert left is not None
    assert left >= 0
    if not more:
        assert left == 0
        assert "left" not in world.watcher.line()


def test_lines_come_by_time_also_while_a_round_lasts_and_once_at_the_end() -> None:
    world = World(2)
    lines: list[str] = []
    with told(world.watcher, lines.append, interval=0.01):
        world.round(1)
        deadline = time.monotonic() + 30
        while len(lines) < 3 and time.monotonic() < deadline:
            time.sleep(0.005)
        n_lines = len(lines)
        world.round(1)
    assert n_lines >= 3
    assert lines[-1].startswith("round 2 of 2")
