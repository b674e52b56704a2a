"""Runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from worlds import trained, write_files

from pausefl.errors import PauseflError
from pausefl.results.compare import compare

pytestmark = pytest.mark.usefixtures("made_up_runs")


def write(folder: Path, accuracy: float = 0.5, learning_rate: float = 0.1, **summary: Any) -> Path:
    """A run of six rounds; the accuracy of the fourth is as given."""
    rounds = trained([0.5, 0.5, 0.5, accuracy, 0.5, float("nan")], round_s=1.5, leakage=float("inf"))
    settings = {"name": "s", "training": {"learning_rate": learning_rate}}
    return write_files(folder, rounds, scenario=settings, **summary)


def lines(*folders: Path) -> list[str]:
    return [" ".join(line.split()) for line in compare(*folders).splitlines()]


def test_what_differs_is_said_with_the_runs_that_have_it(tmp_path: Path) -> None:
    folders = [
        write(tmp_path / "a"),
        write(tmp_path / "b", accuracy=0.6, code_hash="0" * 16),
        write(tmp_path / "c", learning_rate=0.2, selector="random", seed=3),
    ]
    text = lines(*folders)
    assert text[:3] == [f"{head}: {folder}" for head, folder in zip("ABC", folders, strict=True)]
    assert text[5:7] == ["training.learning_rate 0.1 (A B), 0.2 (C)", ""]
    assert f"code_hash – (A), {'0' * 16} (B)" in lines(*folders[:2])
    results = text[text.index("Results:") + 1 :]
    assert [line.split()[:5] for line in results[1:4]] == [
        ["A", "pause", "0", "50.00", "50.00"],
        ["B", "pause", "0", "52.00", "52.50"],
        ["C", "random", "3", "50.00", "50.00"],
    ]
    assert "diverged" not in results[0]  # none did
    assert not any("irst" in line for line in results)


def test_two_runs_have_the_first_round_that_differs(tmp_path: Path) -> None:
    run, other = write(tmp_path / "a"), write(tmp_path / "b", accuracy=0.6, diverged_round=2)
    text = compare(run, other)
    assert text.endswith("\n\nFirst difference: accuracy in round 4.")
    assert "diverged in round" in text
    text = compare(run, run)
    assert text.endswith("\n\nTheir first 6 rounds are identical.")
    assert "  nothing\n" in text


def test_only_finished_runs_are_compared_and_not_one_alone(tmp_path: Path) -> None:
    with pytest.raises(PauseflError, match="two or more"):
        compare(write(tmp_path / "a"))
    with pytest.raises(PauseflError, match="is not a finished run: it has no summary"):
        compare(tmp_path, tmp_path)
