"""Two runs side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from worlds import trained, write_files

from pausefl.errors import PauseflError
from pausefl.results.compare import compare

pytestmark = pytest.mark.usefixtures("made_up_runs")


def write(folder: Path, selector: str = "pause", accuracy: float = 0.5) -> Path:
    """A run of six rounds; the accuracy of the fourth is as given."""
    rounds = trained([0.5, 0.5, 0.5, accuracy, 0.5, float("nan")], round_s=1.5, leakage=float("inf"))
    settings = {"name": "s", "training": {"learning_rate": 0.1}}
    return write_files(folder, rounds, scenario=settings, selector=selector)


def test_what_differs_is_listed(tmp_path: Path) -> None:
    text = compare(write(tmp_path / "a"), write(tmp_path / "b", "random", 0.6))
    rows = {line.split("  ")[1].strip(): line.split()[-2:] for line in text.splitlines() if line[:2] == "  "}
    assert rows["selector"] == ["pause", "random"]
    assert "seed" not in rows
    assert rows["simulated time (s)"] == ["9.00", "9.00"]
    assert text.endswith("First difference: accuracy in round 4.")


def test_digests_and_the_course_of_runs_are_no_settings(tmp_path: Path) -> None:
    folders = [write(tmp_path / "a"), write(tmp_path / "b")]
    rewrite(folders[0], rounds_made=6, ended_by="n_rounds", digests={"rounds.parquet": "a"})
    rewrite(folders[1], digests={"rounds.parquet": "b"})
    assert "  nothing\n" in compare(*folders)


def test_identical_runs(tmp_path: Path) -> None:
    run = write(tmp_path / "a")
    text = compare(run, run)
    assert "Their first 6 rounds are identical." in text
    assert "  nothing\n" in text


def test_only_finished_runs_are_compared_and_not_one_alone(tmp_path: Path) -> None:
    with pytest.raises(PauseflError, match="two or more"):
        compare(write(tmp_path / "a"))
    with pytest.raises(PauseflError, match="is not a finished run: it has no summary"):
        compare(tmp_path, tmp_path)


def rewrite(folder: Path, **changes: object) -> None:
    path = folder / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | changes), "utf-8")


def test_code_and_instructions_that_differ_are_named(tmp_path: Path) -> None:
    folders = [write(tmp_path / "a"), write(tmp_path / "b")]
    machine = {"instructions": "avx avx2 fma", "variables": {"MKL_CBWR": "AVX2"}}
    rewrite(folders[0], code_hash="0" * 16, hardware=machine)
    rewrite(folders[1], code_hash="1" * 16, hardware={"instructions": "avx avx512f fma", "variables": {}})
    lines = compare(*folders).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("  ") and line.strip()}
    assert rows["hardware.instructions"] == ["avx2", "avx512f"]
    assert rows["hardware.variables.MKL_CBWR"] == ["AVX2", "–"]
    assert rows["code_hash"] == ["0" * 16, "1" * 16]


def test_many_runs_have_a_row_each(tmp_path: Path) -> None:
    folders = [write(tmp_path / "a"), write(tmp_path / "b", accuracy=0.6), write(tmp_path / "c", "random")]
    rewrite(folders[2], scenario={"name": "s", "training": {"learning_rate": 0.2}})
    lines = compare(*folders).splitlines()
    assert [line.split() for line in lines if "learning_rate" in line] == [
        ["scenario.training.learning_rate", "0.1", "A", "B"]
    ]
    assert ["0.2", "C"] in [line.split() for line in lines]
    rows = {line.split()[0]: line.split() for line in lines if line[:3] in ("  A", "  B", "  C")}
    assert rows["A"][:5] == ["A", "pause", "0", "6", "50.00"]
    assert rows["B"][4] == "52.00"
    assert rows["C"][1] == "random"
