"""Runs side by side, and what is said at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIOS
from typer.testing import CliRunner
from worlds import trained, untrained, write_files

from pausefl.analysis.compare import compare
from pausefl.analysis.groups import grouped
from pausefl.analysis.run_report import run_report
from pausefl.cli import app
from pausefl.errors import PauseflError
from pausefl.runs.collected import runs_in
from pausefl.settings import load_scenario

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
    assert text[5:7] == ["training.learning_rate 0.1 (A B), 0.2 (C)", f"code_hash – (A C), {'0' * 16} (B)"]
    assert not any("code_hash" in line for line in lines(*folders[1:]))  # one of each selector
    assert f"code_hash – (A), {'0' * 16} (B)" in lines(*folders[:2])
    results = text[text.index("Results:") + 1 :]
    assert [line.split()[:5] for line in results[1:4]] == [
        ["A", "pause", "0", "50.00", "50.00"],
        ["B", "pause", "0", "52.00", "52.50"],
        ["C", "random", "3", "50.00", "50.00"],
    ]
    assert "diverged" not in results[0]  # none did
    assert not any("irst" in line for line in results)


def test_constants_of_a_selector_whose_code_is_not_at_hand_are_no_differences(tmp_path: Path) -> None:
    """Its settings have the constants of all selectors, those of others what they look at."""
    rounds = trained([0.5] * 6, round_s=1.5, leakage=float("inf"))
    constants = {"pause": {}, "gone_module:Rule": {"selection": {"lag": 1}}}
    folders = [
        write_files(tmp_path / name, rounds, scenario={"name": "s"} | own, selector=name)
        for name, own in constants.items()
    ]
    assert "nothing" in lines(*folders)
    assert [group.label for group in grouped(runs_in(folders[1]))] == ["Rule"]


def test_a_table_of_another_suffix_is_refused_before_anything_is_compared(tmp_path: Path) -> None:
    folders = [str(write(tmp_path / name)) for name in "ab"]
    result = CliRunner().invoke(app, ["compare", *folders, "--out", str(tmp_path / "means.txt")])
    assert result.exit_code
    assert "Results:" not in result.output


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


# At the end of a run

#: Accuracies of a run whose mean of ten rounds falls.
FALLEN = [0.5] * 15 + [0.1] * 15


def said(folder: Path, rounds: Any = None, scenario: str = "demo_small", **summary: Any) -> list[str]:
    """Write a run of three rounds, or of others, and give what is said of it, line by line."""
    whole = trained([0.1, 0.2, 0.6], [3.0, 2.0, 1.0], round_s=0.6) if rounds is None else rounds
    document = {
        "scenario": load_scenario(scenario, SCENARIOS).job_settings(),
        "refused_updates": {"n": 0, "first": []},
        "timings_s": {"total": 12.34},
        "peak_memory_bytes": 5e8,
    }
    return [
        " ".join(line.split())
        for line in run_report(write_files(folder, whole, **document | summary)).splitlines()
    ]


@pytest.mark.parametrize(
    ("rounds", "summary", "warning"),
    [
        (None, {"diverged_round": 2}, "the model diverged in round 2"),
        (
            untrained(3).assign(selection=[[0], [], []]),
            {},
            "nobody took part in 2 of 3 rounds, first in round 2",
        ),
        (
            None,
            {"refused_updates": {"n": 7, "first": [{"round": 2, "user": 5}]}},
            "7 updates were not finite and count as zeros, the first of user 5 in round 2",
        ),
        (trained(FALLEN), {}, "accuracy fell from 50 % to 10 %, as noise grew"),
    ],
)
def test_what_a_reader_has_to_know_is_a_warning(
    tmp_path: Path, rounds: Any, summary: dict[str, Any], warning: str
) -> None:
    warnings = [line for line in said(tmp_path, rounds, **summary) if line.startswith("Warning")]
    assert len(warnings) == 1
    assert warnings[0].startswith(f"Warning: {warning}")
