"""Where a rule finds its files, whatever keeps them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pausefl.data.sources import located, raw_files
from pausefl.settings import DataSettings, Experiment, RawData
from pausefl.workflow.copies import run_folders, study_folder

RUN = Experiment("tiny", "pause", 3)


@pytest.mark.parametrize("copies", ["", ".snakemake/storage/s3/bucket/results/", "/else/where/"])
def test_files_and_copies_are_found_by_their_names(copies: str) -> None:
    first = f"{copies}results/runs/tiny/random/seed-0/rounds.parquet"
    assert run_folders([first], [RUN]) == {RUN: Path(f"{copies}results/runs/tiny/pause/seed-3")}
    file = "pause/seed-0.parquet"
    assert study_folder(f"{copies}results/studies/mine/{file}", file) == Path(f"{copies}results/studies/mine")


def test_published_files_stand_for_runs() -> None:
    first = "results/published/tiny/rounds.parquet"
    assert run_folders([first], [RUN]) == {RUN: Path("results/published/tiny/pause/seed-3")}
    published = "results/published/studies/mine"
    assert study_folder(f"{published}/runs.parquet", "pause/seed-0.parquet") == Path(published)
    assert run_folders([], []) == {}


@pytest.mark.parametrize("root", [".", "data/raw"])
@pytest.mark.parametrize(
    ("source", "folders"),
    [("mnist", {}), ("mnist", {"mnist": "images"}), ("cifar10", {"cifar10": "/else/where/images"})],
)
def test_raw_files_are_found_below_their_folder(
    source: str, folders: dict[str, str], root: str, tmp_path: Path
) -> None:
    settings = DataSettings(source=source, n_validation=0)
    files = raw_files(settings, RawData(root=tmp_path / root, download=False, folders=folders))
    assert raw_files(settings, located(settings, folders, list(map(str, files)))) == files


def test_data_without_files_need_no_folder() -> None:
    settings = DataSettings(source="digits", n_validation=0, test_fraction=0.2)
    assert raw_files(settings, located(settings, {}, [])) == []
