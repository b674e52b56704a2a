"""The files of a run are of one run, or they are refused; tried on published runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from pausefl.errors import PauseflError
from pausefl.results.runs import read_run

RUNS = Path(__file__).parents[3] / "results" / "published" / "runs" / "mnist_small_authors"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUNS / "pause" / "seed-0", tmp_path / "run"))


def test_a_published_run_agrees(run: Path) -> None:
    summary, rounds = read_run(run)
    assert (summary["selector"], len(rounds)) == ("pause", summary["n_rounds"])


@pytest.mark.parametrize(
    ("other", "files", "words"),
    [
        ("random/seed-0", ["rounds.parquet"], "who took part how often"),
        ("random/seed-0", ["ledger.parquet"], "who took part how often"),
        ("pause/seed-1", ["rounds.parquet", "ledger.parquet"], "latencies"),
        ("pause/seed-1", ["summary.json"], "latencies"),
    ],
)
def test_files_of_another_run_are_refused(run: Path, other: str, files: list[str], words: str) -> None:
    for file in files:
        shutil.copy(RUNS / other / file, run)
    with pytest.raises(PauseflError, match=f"files of different runs: .*{words}"):
        read_run(run)


def test_another_leakage_is_refused(run: Path) -> None:
    path = run / "rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.assign(leakage_max=rounds["leakage_max"] * 0.99).to_parquet(path)
    with pytest.raises(PauseflError, match="differ in the largest leakage"):
        read_run(run)


def test_the_command_to_make_a_damaged_file_again_is_in_the_message(run: Path) -> None:
    path = run / "rounds.parquet"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(PauseflError, match=f"snakemake --cores 1 --force {path}"):
        read_run(run)
