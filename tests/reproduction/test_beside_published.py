"""At its end a workflow says what computed runs differ in from the published ones of the same scenario."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pausefl.reproduction.beside_published import beside_published
from pausefl.runs.collected import read_run, write


@pytest.fixture
def results(finish: Callable[..., Path], tmp_path: Path) -> Path:
    """Published are PAUSE and random selection, computed PAUSE, of which one run is longer, and BSFL."""
    made = {
        "published": [("pause", 0, 4), ("pause", 1, 4), ("pause", 2, 4), ("random", 0, 4)],
        "collected": [("pause", 0, 4), ("pause", 1, 6), ("bsfl", 0, 4)],
    }
    for kind, runs in made.items():
        folders = [
            finish(tmp_path / f"runs/{kind}-{selector}-{seed}", selector, seed, n)
            for selector, seed, n in runs
        ]
        write(map(read_run, folders), tmp_path / kind / "demo_small")
    return tmp_path


def test_selectors_are_beside_each_other(results: Path) -> None:
    text = beside_published(["demo_small", "another"], results / "collected", results / "published", 0.0)
    head, columns, pause, bsfl = text.splitlines()
    assert head.startswith(
        f"demo_small, computed now, beside the published runs in {results}/published/demo_small:"
    )
    assert columns.split() == ["computed", "seeds", "published", "seeds", "difference", "same", "digits"]
    accuracy = {
        kind: [
            100 * read_run(results / kind / f"demo_small/pause/seed-{seed}").rounds["accuracy"].mean()
            for seed in seeds
        ]
        for kind, seeds in (("collected", (0, 1)), ("published", (0, 1, 2)))
    }
    ours, theirs = accuracy["collected"], accuracy["published"]
    found = re.fullmatch(r"  PAUSE +([\d.]+) +2 +([\d.]+) +3 +([+−][\d.]+) +1 of 2", pause)
    assert found, pause
    assert float(found[1]) == pytest.approx(sum(ours) / 2, abs=0.05)
    assert float(found[2]) == pytest.approx(sum(theirs) / 3, abs=0.05)
    gap = (ours[0] - theirs[0] + ours[1] - theirs[1]) / 2
    assert float(found[3].replace("−", "-")) == pytest.approx(gap, abs=0.05)
    assert re.fullmatch(r"  BSFL +[\d.]+ +1 +– +0 +– +0 of 0", bsfl), bsfl


def test_what_was_not_computed_now_or_is_not_published_is_left_out(results: Path) -> None:
    folders = results / "collected", results / "published"
    assert beside_published(["demo_small"], *folders, time.time() + 60) == ""
    assert beside_published(["demo_small"], folders[0], results / "nowhere", 0.0) == ""
    assert beside_published([], *folders, 0.0) == ""


def test_damaged_runs_are_said_and_stop_nothing(results: Path) -> None:
    (results / "collected/demo_small/rounds.parquet").write_bytes(b"PAR1")
    text = beside_published(["demo_small"], results / "collected", results / "published", 0.0)
    assert text.startswith("demo_small: not compared with the published runs: ")
    assert "rounds.parquet" in text
