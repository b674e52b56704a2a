"""Published runs: every figure, table and verdict is made from them, on a path on which nothing can train."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workspace import TINY_STUDIES, Checkout

import pausefl
from pausefl.results.published import read_study
from pausefl.studies import kinds

pytestmark = pytest.mark.slow

PUBLISHED = ("--config", "runs=published", "--cores", "2")
KINDS = ("regret", "graphs", "generalization", "selection")


@pytest.fixture(scope="module")
def published(everything: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with what was published, without PyTorch and without data; nothing is made from it yet."""
    checkout = everything.copy(tmp_path_factory.mktemp("published") / "checkout", "data", ".snakemake")
    for path in (checkout.root / "results").iterdir():
        if path.name != "published":
            shutil.rmtree(path)
    checkout.write_studies({kind: TINY_STUDIES[kind] for kind in KINDS})
    (checkout.root / "src/torch.py").write_text("raise ImportError('nothing trains here')\n", "utf-8")
    return checkout


@pytest.fixture(scope="module")
def rebuilt(published: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The same, with all that is made from what was published."""
    checkout = published.copy(tmp_path_factory.mktemp("rebuilt") / "checkout")
    checkout.snakemake(*PUBLISHED)
    return checkout


def test_figures_tables_and_verdicts_are_those_of_the_runs(everything: Checkout, rebuilt: Checkout) -> None:
    for folder, ending in (("figures", "png"), ("figures", "pdf"), ("tables", "csv"), ("studies", "png")):
        made = {
            path.relative_to(rebuilt.root): path
            for path in (rebuilt.root / "results" / folder).rglob(f"*.{ending}")
        }
        assert made
        for name, path in made.items():
            assert path.read_bytes() == (everything.root / name).read_bytes(), name
    for scale in ("demo", "paper"):
        path = f"results/claims/{scale}/claims.json"
        ours, theirs = (json.loads((c.root / path).read_text("utf-8")) for c in (everything, rebuilt))
        assert ours == theirs
        assert ours["claims"][0]["finding"] != "not run"
    assert (rebuilt.root / "results/report/all.html").is_file()


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
    for path in (folder / "studies").rglob("seed-*.parquet"):
        study, name = path.parents[1], path.relative_to(path.parents[1])
        table = read_study(folder / "published/studies" / study.name, str(name))
        assert table is not None
        pd.testing.assert_frame_equal(pd.read_parquet(path), table, check_exact=True)
    files = [path.name for path in (folder / "published/tiny").iterdir()]
    assert sorted(files) == ["ledger.parquet", "rounds.parquet", "runs.jsonl"]


def test_publishing_again_changes_nothing_and_other_numbers_are_refused(
    everything: Checkout, tmp_path: Path
) -> None:
    checkout = everything.copy(tmp_path / "copy")
    published = checkout.root / "results/published"
    before = {path: path.read_bytes() for path in published.rglob("*.*")}
    checkout.snakemake("--cores", "2", "publish")
    assert {path: path.read_bytes() for path in published.rglob("*.*")} == before
    run = checkout.root / "results/runs/tiny/pause/seed-0"
    rounds = pd.read_parquet(run / "rounds.parquet")
    rounds.assign(train_loss=rounds["train_loss"] + 1).to_parquet(run / "rounds.parquet", index=False)
    summary = json.loads((run / "summary.json").read_text("utf-8"))
    (run / "summary.json").write_text(json.dumps(summary | {"digests": {}}), "utf-8")
    output = checkout.snakemake("--cores", "2", "--rerun-triggers", "params", "--", "publish", ok=False)
    assert "published already with other settings or numbers: pause, seed 0" in output
    assert {path: path.read_bytes() for path in published.rglob("*.*")} == before
    checkout.snakemake("--cores", "2", "--rerun-triggers", "params", "--", "republish")
    read = pausefl.read_run(published / "tiny/pause/seed-0").rounds["train_loss"]
    assert read.equals(rounds["train_loss"] + 1)


def test_runs_that_are_published_are_not_trained_to_add_another(published: Checkout, tmp_path: Path) -> None:
    checkout = published.copy(tmp_path / "copy")
    name = checkout.root / "results/published/tiny/runs.jsonl"
    assert "job" not in checkout.planned("publish")
    folder = name.parent
    for path in (folder / "rounds.parquet", folder / "ledger.parquet"):
        table = pd.read_parquet(path)
        table[(table["selector"] != "pause") | (table["seed"] != 1)].to_parquet(path, index=False)
    lines = name.read_text("utf-8").splitlines()
    name.write_text("".join(f"{line}\n" for line in lines if '"pause","seed":1,' not in line), "utf-8")
    assert checkout.planned("publish")["job"] == 1


def test_a_figure_says_that_it_comes_from_published_runs(rebuilt: Checkout) -> None:
    sidecar = json.loads((rebuilt.root / "results/figures/tiny/accuracy_vs_time.json").read_text("utf-8"))
    assert all(run.startswith("results/published/tiny/") for run in sidecar["runs"])


def test_no_rule_can_train_simulate_or_publish(everything: Checkout, rebuilt: Checkout) -> None:
    there = set(rebuilt.listed(*PUBLISHED, "--list-rules"))
    training = {
        "job",
        "prepare_data",
        "partition",
        "plot_partition",
        "publish",
        "republish",
        "demo",
    }
    training |= {f"compute_{kind}" for kind, facts in kinds().items() if not facts.instant}
    assert not there & training
    assert training <= set(everything.listed("--list-rules"))
    assert not (rebuilt.root / "data").exists()


def test_a_run_that_was_not_published_is_an_error_and_not_trained(
    published: Checkout, tmp_path: Path
) -> None:
    checkout = published.copy(tmp_path / "copy")
    lines = checkout.root / "results/published/tiny/runs.jsonl"
    kept = [line for line in lines.read_text("utf-8").splitlines() if '"pause","seed":0,' not in line]
    lines.write_text("".join(f"{line}\n" for line in kept), "utf-8")
    output = checkout.snakemake(*PUBLISHED, ok=False)
    assert "there is no results/published/tiny/pause/seed-0" in output
    lines.unlink()
    output = checkout.snakemake(*PUBLISHED, ok=False)
    assert "results/published/tiny/runs.jsonl" in output
    assert "MissingInput" in output
