"""What is said at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from worlds import trained, untrained, write_files

from pausefl.results.run_report import run_report
from pausefl.settings import load_scenario

pytestmark = pytest.mark.usefixtures("made_up_runs")

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"
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


def test_it_says_what_came_out_and_where_it_is(tmp_path: Path) -> None:
    assert said(tmp_path, seed=4) == [
        "demo_small, pause, seed 4:",
        "accuracy (%) 30.00",
        "best (%) 30.00",
        "loss 2",
        "rounds 3",
        "simulated time (s) 1.80",
        "largest leakage (ε) 2 of 40 per coordinate",
        "wall-clock time (s) 12.3",
        "peak memory (MB) 500",
        f"files {tmp_path}/rounds.parquet, ledger.parquet and summary.json",
        "Accuracy and loss are means of at most 10 last rounds.",
    ]


def test_without_training_there_is_neither_accuracy_nor_loss(tmp_path: Path) -> None:
    lines = said(tmp_path, untrained(2), rounds_made=2, n_rounds=3)
    assert lines[1] == "rounds 2 of at most 3"
    assert "ccuracy" not in "".join(lines)


@pytest.mark.parametrize(
    ("scenario", "leakage"),
    [("bsfl_linear_iid", "unlimited"), ("mnist_large_iid_r1_update", "2 of 10 per update")],
)
def test_leakage_is_that_of_what_is_protected(tmp_path: Path, scenario: str, leakage: str) -> None:
    assert f"largest leakage (ε) {leakage}" in said(tmp_path, scenario=scenario)


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
            "7 updates were not finite and were left out, the first of user 5 in round 2",
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


def test_a_fall_has_no_warning_without_protection_or_after_divergence(tmp_path: Path) -> None:
    assert "Warning" not in "".join(said(tmp_path / "a", trained(FALLEN, leakage=float("inf"))))
    assert "fell" not in "".join(said(tmp_path / "b", trained(FALLEN), diverged_round=20))
