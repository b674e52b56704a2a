"""Two folders of results are the same, or every file that differs is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pausefl.analysis.differences import difference, differences

ROUNDS = pd.DataFrame(
    {
        "round": [1, 2, 3],
        "selection": [[1, 2], [0], [2, 3]],
        "accuracy": [0.5, float("nan"), 0.7],
        "reward": [1.0, float("nan"), 3.0],
    }
)


def results(folder: Path, accuracy: float = 0.5, code: str = "a", shade: int = 0) -> Path:
    folder.mkdir()
    pd.DataFrame({"round": [1, 2], "accuracy": [0.1, accuracy]}).to_csv(folder / "summary.csv", index=False)
    pd.DataFrame({"accuracy": [accuracy, np.nan]}).to_parquet(folder / "rounds.parquet")
    metadata = {
        "seeds": [0, 1],
        "code_hash": code,
        "timings_s": code,
        "scenario": {"accuracy": accuracy, "title": code},
    }
    (folder / "figure.json").write_text(json.dumps(metadata), encoding="utf-8")
    lines = [{"seed": 0, "digest": accuracy, "timings_s": {"total": code}, "hardware": {"processor": code}}]
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    Image.fromarray(np.full((2, 2, 3), shade, np.uint8)).save(folder / "figure.png")
    return folder


def test_equal_results_have_no_differences_whatever_code_made_them(tmp_path: Path) -> None:
    assert not list(differences(results(tmp_path / "old"), results(tmp_path / "new", code="b")))


@pytest.mark.parametrize(
    ("change", "files"),
    [
        ({"accuracy": np.nextafter(0.5, 1)}, ["figure.json", "rounds.parquet", "runs.jsonl", "summary.csv"]),
        ({"shade": 1}, ["figure.png"]),
    ],
)
def test_every_file_that_differs_is_named(tmp_path: Path, change: dict[str, float], files: list[str]) -> None:
    found = list(differences(results(tmp_path / "old"), results(tmp_path / "new", **change)))  # type: ignore[arg-type]
    assert [line.partition(":")[0] for line in found] == files


def test_a_file_of_one_folder_only_is_named(tmp_path: Path) -> None:
    old, new = results(tmp_path / "old"), results(tmp_path / "new")
    (new / "runs.jsonl").unlink()
    (new / "summary.csv").unlink()
    (new / "more.csv").write_text("a\n", encoding="utf-8")
    gone = [f"{name}: only in {old}" for name in ("runs.jsonl", "summary.csv")]
    assert list(differences(old, new)) == [f"more.csv: only in {new}", *gone]


@pytest.mark.parametrize(("column", "value"), [("selection", [0, 1]), ("reward", 1.0 + 2**-52), ("round", 9)])
def test_one_bit_is_a_difference(column: str, value: object) -> None:
    other = ROUNDS.copy()
    other.at[0, column] = value
    problem = f"column {column} differs in round {other['round'][0]}"
    assert difference(other, ROUNDS) == problem


def test_a_bit_may_be_rounding() -> None:
    other = ROUNDS.copy()
    other.at[0, "reward"] = 1.0 + 2**-52
    assert difference(other, ROUNDS, 1e-15) == ""
    other.at[2, "reward"] = 3.1
    assert difference(other, ROUNDS, 1e-15) == "column reward differs in round 3"
