"""Published runs: every figure, table and verdict is made from them, on a path on which nothing can train."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workspace import TINY_STUDIES, Checkout

from pausefl.registry import STUDIES

pytestmark = pytest.mark.slow

PUBLISHED = ("--config", "runs=published", "--cores", "2")
KINDS = ("regret", "optimality_gap", "graphs", "generalization", "selection")


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
    tables = [path.relative_to(folder) for path in (folder / "runs").rglob("*.parquet")]
    tables += [path.relative_to(folder) for path in (folder / "studies").rglob("seed-*.parquet")]
    assert len(tables) == 4 * 2 + 4
    for name in tables:
        ours, theirs = (pd.read_parquet(path) for path in (folder / name, folder / "published" / name))
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
        assert (folder / "published" / name).stat().st_size < (folder / name).stat().st_size


def test_a_figure_says_that_it_comes_from_published_runs(rebuilt: Checkout) -> None:
    sidecar = json.loads((rebuilt.root / "results/figures/tiny/accuracy_vs_time.json").read_text("utf-8"))
    assert all(run.startswith("results/published/runs/tiny/") for run in sidecar["runs"])


def test_no_rule_can_train_simulate_or_publish(everything: Checkout, rebuilt: Checkout) -> None:
    there = set(rebuilt.listed(*PUBLISHED, "--list-rules"))
    training = {"job", "prepare_data", "partition", "plot_partition", "publish_run", "publish_study", "demo"}
    training |= {f"compute_{kind}" for kind, record in STUDIES.items() if not record.instant}
    assert not there & training
    assert training <= set(everything.listed("--list-rules"))
    assert not (rebuilt.root / "data").exists()


def test_a_run_that_was_not_published_is_an_error_and_not_trained(
    published: Checkout, tmp_path: Path
) -> None:
    checkout = published.copy(tmp_path / "copy")
    (checkout.root / "results/published/runs/tiny/pause/seed-0/rounds.parquet").unlink()
    output = checkout.snakemake(*PUBLISHED, ok=False)
    assert "results/published/runs/tiny/pause/seed-0/rounds.parquet" in output
    assert "MissingInput" in output
