"""What is said at the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from worlds import write_files

from pausefl.results.closing import closing
from pausefl.runs.run import ROUND_COLUMNS
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
    whole = rounds if rounds and "round" in rounds else table | (rounds or {})
    document = {
        "scenario": summary.pop("scenario_settings", None)
        or load_scenario(scenario, SCENARIOS).job_settings(),
        "seed": 4,
        "refused_updates": {"n": 0, "first": []},
        "timings_s": {"total": 12.34},
        "peak_memory_bytes": 5e8,
    }
    return closing(write_files(folder, pd.DataFrame(whole), **document | summary))


def test_it_says_what_came_out_and_where_it_is(tmp_path: Path) -> None:
    assert [" ".join(line.split()) for line in finished(tmp_path).splitlines()] == [
        "demo_small, pause, seed 4:",
        "test accuracy 30 % (mean of the last 3 rounds)",
        "test loss 2 (mean of the last 3 rounds)",
        "best accuracy 30 % in round 3, averaged likewise",
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


def long_run(accuracy: list[float], leakage: float = 2.5) -> dict[str, Any]:
    """Columns of a run with these accuracies."""
    n = len(accuracy)
    columns: dict[str, Any] = {column: [1.0] * n for column in (*ROUND_COLUMNS, "loss")}
    return columns | {
        "round": list(range(1, n + 1)),
        "selection": [[0, 1]] * n,
        "leakage_max": [leakage] * n,
        "accuracy": accuracy,
    }


FALLEN = [0.5] * 15 + [0.1] * 15


def test_a_fall_as_noise_grew_is_a_warning(tmp_path: Path) -> None:
    said = " ".join(finished(tmp_path, rounds=long_run(FALLEN)).split())
    assert "best accuracy 50 % in round 1, averaged likewise" in said
    assert said.endswith("Warning: accuracy fell from 50 % (round 1) to 10 %, as noise grew")
