"""What is said at the end of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pausefl.results.closing import closing
from pausefl.results.runs import ROUND_COLUMNS
from pausefl.settings import load_scenario

pytestmark = pytest.mark.usefixtures("made_up_runs")

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"


def finished(folder: Path, scenario: str = "demo_small", rounds: Any = None, **summary: Any) -> str:
    """Write a run of three rounds, with some values of its own, and say what it came to."""
    table = dict.fromkeys(ROUND_COLUMNS, [1.0] * 3) | {
        "round": [1, 2, 3],
        "selection": [[0, 1], [1, 2], [0, 2]],
        "elapsed_s": [0.5, 1.0, 1.75],
        "leakage_max": [1.0, 2.0, 2.5],
        "accuracy": [0.1, 0.2, 0.6],
        "loss": [3.0, 2.0, 1.0],
    }
    pd.DataFrame(table | (rounds or {})).to_parquet(folder / "rounds.parquet")
    document = {
        "scenario": load_scenario(scenario, SCENARIOS).job_settings(),
        "selector": "pause",
        "seed": 4,
        "n_rounds": 3,
        "trained": True,
        "diverged_round": None,
        "refused_updates": {"n": 0, "first": []},
        "timings_s": {"total": 12.34},
        "peak_memory_bytes": 5e8,
    }
    (folder / "summary.json").write_text(json.dumps(document | summary), "utf-8")
    return closing(folder)


def test_it_says_what_came_out_and_where_it_is(tmp_path: Path) -> None:
    assert [" ".join(line.split()) for line in finished(tmp_path).splitlines()] == [
        "demo_small, pause, seed 4:",
        "test accuracy 30 % (mean of the last 10 rounds)",
        "test loss 2 (mean of the last 10 rounds)",
        "rounds 3 in 1.8 simulated seconds",
        "largest leakage ε = 2.5 of 40 per coordinate",
        "took 12.3 s, 500 MB",
        f"files {tmp_path}/rounds.parquet, ledger.parquet and summary.json",
    ]


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("bsfl_linear_iid", "unlimited: updates are not protected"),
        ("mnist_large_iid_r1_update", "ε = 2.5 of 10 per update"),
    ],
)
def test_leakage_is_that_of_what_is_protected(tmp_path: Path, scenario: str, said: str) -> None:
    assert said in finished(tmp_path, scenario)


@pytest.mark.parametrize(
    ("rounds", "summary", "warning"),
    [
        ({}, {"diverged_round": 2}, "Warning: the model diverged in round 2"),
        (
            {"selection": [[0], [], []]},
            {},
            "Warning: nobody took part in 2 of 3 rounds, first in round 2",
        ),
        (
            {},
            {"refused_updates": {"n": 7, "first": [{"round": 2, "user": 5}]}},
            "Warning: 7 updates were not finite and were left out, the first of user 5 in round 2",
        ),
    ],
)
def test_what_a_reader_has_to_know_is_a_warning(
    tmp_path: Path, rounds: dict[str, Any], summary: dict[str, Any], warning: str
) -> None:
    assert "Warning" not in finished(tmp_path)
    assert warning in finished(tmp_path, rounds=rounds, **summary)
