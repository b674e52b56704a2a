"""What is said at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenarios import SCENARIOS
from worlds import trained, untrained, write_files

from pausefl.results.run_report import run_report
from pausefl.settings import load_scenario

pytestmark = pytest.mark.usefixtures("made_up_runs")

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
