"""Published runs: every figure, table and verdict is made from them, on a path on which nothing can train."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workspace import Checkout

import pausefl
from pausefl.errors import PauseflError
from pausefl.runs.differences import difference

pytestmark = pytest.mark.slow

PUBLISHED = ("--config", "runs=published", "--cores", "2")


@pytest.fixture(scope="module")
def published(everything: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with what was published, without PyTorch and without data; nothing is made from it yet."""
    checkout = everything.copy(tmp_path_factory.mktemp("published") / "checkout", "data", ".snakemake")
    for path in (checkout.root / "results").iterdir():
        if path.name != "published":
            shutil.rmtree(path)
    (checkout.root / "src/torch.py").write_text("raise ImportError('nothing trains here')\n", "utf-8")
    return checkout


@pytest.fixture(scope="module")
def rebuilt(published: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The same, with all that is made from what was published."""
    checkout = published.copy(tmp_path_factory.mktemp("rebuilt") / "checkout")
    checkout.snakemake(*PUBLISHED)
    return checkout


def test_figures_tables_and_verdicts_are_those_of_the_runs(everything: Checkout, rebuilt: Checkout) -> None:
    for folder, ending in (("figures", "png"), ("figures", "pdf"), ("tables", "csv"), ("claims", "json")):
        made = {
            path.relative_to(rebuilt.root): path
            for path in (rebuilt.root / "results" / folder).rglob(f"*.{ending}")
        }
        assert made
        for name, path in made.items():
            assert path.read_bytes() == (everything.root / name).read_bytes(), name
    for scale in ("demo", "paper"):
        judged = json.loads((rebuilt.root / f"results/claims/{scale}/claims.json").read_text("utf-8"))
        assert judged["claims"][0]["finding"] != "not run"
    assert (rebuilt.root / "results/report/all.html").is_file()
    sidecar = json.loads((rebuilt.root / "results/figures/tiny_accuracy.json").read_text("utf-8"))
    assert sidecar["runs"]
    assert all(run.startswith("results/published/tiny/") for run in sidecar["runs"])
    assert rebuilt.planned(*PUBLISHED[:2]) == {}
    assert not (rebuilt.root / "data").exists()
    assert not {"runs", "collected", "studies"} & {path.name for path in (rebuilt.root / "results").iterdir()}


def test_nothing_but_the_files_changes_on_publication(everything: Checkout) -> None:
    folder = everything.root / "results"
    runs = [path.parent for path in (folder / "runs").rglob("summary.json")]
    assert len(runs) == 4
    for run in runs:
        name = folder / "published" / run.relative_to(folder / "runs")
        ours, theirs = pausefl.read_run(run), pausefl.read_run(name)
        assert ours.summary == theirs.summary
        for table in ("rounds", "ledger"):
            pd.testing.assert_frame_equal(getattr(ours, table), getattr(theirs, table), check_exact=True)
    tables = [path for path in (folder / "studies").glob("*/*.*") if path.suffix in (".csv", ".parquet")]
    assert len(tables) >= len(list((folder / "studies").iterdir())) >= 10
    for path in tables:
        published = folder / "published" / path.relative_to(folder)
        if path.suffix == ".csv":
            assert published.read_bytes() == path.read_bytes()
        else:
            assert not difference(pd.read_parquet(path), pd.read_parquet(published))
    assert sorted(path.name for path in (folder / "published/tiny").iterdir()) == [
        "ledger.parquet",
        "rounds.parquet",
        "runs.jsonl",
    ]


def without(checkout: Checkout, lost: str) -> None:
    """Take a run of PAUSE out of published ones: its line, and its rows in these tables."""
    folder = checkout.root / "results/published/tiny"
    for path in (folder / name for name in lost.split()):
        table = pd.read_parquet(path)
        table[(table["selector"] != "pause") | (table["seed"] != 1)].to_parquet(path, index=False)
    lines = (folder / "runs.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [
        line for line in lines if (json.loads(line)["selector"], json.loads(line)["seed"]) != ("pause", 1)
    ]
    assert len(kept) == 3
    (folder / "runs.jsonl").write_text("".join(kept), "utf-8")


def test_publishing_again_adds_what_is_new_and_refuses_other_numbers(
    everything: Checkout, tmp_path: Path
) -> None:
    checkout = everything.copy(tmp_path / "copy")
    published = checkout.root / "results/published"
    before = {path: path.read_bytes() for path in published.rglob("*.*")}

    def unchanged() -> bool:
        return {path: path.read_bytes() for path in published.rglob("*.*")} == before

    checkout.snakemake("--cores", "2", "publish")
    assert unchanged()
    without(checkout, "rounds.parquet ledger.parquet")
    with pytest.raises(PauseflError):
        pausefl.read_run(published / "tiny/pause/seed-1")
    checkout.snakemake("--cores", "2", "publish")
    ours = (
        pausefl.read_run(checkout.root / f"results/{name}/tiny/pause/seed-1")
        for name in ("runs", "published")
    )
    pd.testing.assert_frame_equal(*(run.rounds for run in ours), check_exact=True)
    run = checkout.root / "results/runs/tiny/pause/seed-0"
    rounds = pd.read_parquet(run / "rounds.parquet")
    rounds.assign(train_loss=rounds["train_loss"] + 1).to_parquet(run / "rounds.parquet", index=False)
    summary = json.loads((run / "summary.json").read_text("utf-8"))
    (run / "summary.json").write_text(json.dumps(summary | {"digests": {}}), "utf-8")
    before = {path: path.read_bytes() for path in published.rglob("*.*")}
    output = checkout.snakemake("--cores", "2", "publish", ok=False)
    assert "has other settings or numbers of pause, seed 0; nothing was published" in output
    assert unchanged()
    for path in (published / "tiny").iterdir():
        path.unlink()
    checkout.snakemake("--cores", "2", "publish")
    read = pausefl.read_run(published / "tiny/pause/seed-0").rounds["train_loss"]
    assert read.equals(rounds["train_loss"] + 1)


def test_a_run_that_was_not_published_is_an_error_and_not_trained(
    published: Checkout, tmp_path: Path
) -> None:
    checkout = published.copy(tmp_path / "copy")
    without(checkout, "")
    output = checkout.snakemake(*PUBLISHED, ok=False)
    assert "results/published/tiny has no run of pause, seed 1" in output
    (checkout.root / "results/published/tiny/runs.jsonl").unlink()
    output = checkout.snakemake(*PUBLISHED, ok=False)
    assert "results/published/tiny" in output
    assert "Traceback (most" not in output
    assert not (checkout.root / "results/runs").exists()
