"""Two folders of results are the same, or every file that differs is named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pausefl.results.differences import differences


def results(folder: Path, accuracy: float = 0.5, code: str = "a", shade: int = 0) -> Path:
    folder.mkdir()
    pd.DataFrame({"round": [1, 2], "accuracy": [0.1, accuracy]}).to_csv(folder / "summary.csv", index=False)
    pd.DataFrame({"accuracy": [accuracy, np.nan]}).to_parquet(folder / "rounds.parquet")
    metadata = {"seeds": [0, 1], "code_hash": code, "scenario": {"accuracy": accuracy, "title": code}}
    (folder / "figure.json").write_text(json.dumps(metadata), encoding="utf-8")
    Image.fromarray(np.full((2, 2, 3), shade, np.uint8)).save(folder / "figure.png")
    return folder


def test_equal_results_have_no_differences_whatever_code_made_them(tmp_path: Path) -> None:
    assert not list(differences(results(tmp_path / "old"), results(tmp_path / "new", code="b")))


@pytest.mark.parametrize(
    ("change", "files"),
    [
        ({"accuracy": np.nextafter(0.5, 1)}, ["figure.json", "rounds.parquet", "summary.csv"]),
        ({"shade": 1}, ["figure.png"]),
    ],
)
def test_every_file_that_differs_is_named(tmp_path: Path, change: dict[str, float], files: list[str]) -> None:
    found = list(differences(results(tmp_path / "old"), results(tmp_path / "new", **change)))  # type: ignore[arg-type]
    assert [line.partition(":")[0] for line in found] == files


def test_a_file_of_one_folder_only_is_named(tmp_path: Path) -> None:
    old, new = results(tmp_path / "old"), results(tmp_path / "new")
    (new / "summary.csv").unlink()
    (new / "more.csv").write_text("a\n", encoding="utf-8")
    assert list(differences(old, new)) == [f"more.csv: only in {new}", f"summary.csv: only in {old}"]
