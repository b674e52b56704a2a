"""Published runs: every figure, table and verdict is made from them, on a path on which nothing can train."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from workspace import Checkout, make_small_checkout

from pausefl.registry import STUDIES

pytestmark = pytest.mark.slow

PUBLISHED = ("--config", "runs=published", "--cores", "2")
CLAIM = {
    "id": "T1",
    "sentence": "No user leaks more than its budget.",
    "place": "here",
    "tests": [{"kind": "bound", "scenarios": {"demo": ["tiny"], "paper": ["cifar10_small_iid_r1"]}}],
}


def configured(folder: Path) -> Checkout:
    """A checkout with one tiny scenario, small studies of four kinds that are published, and a claim."""
    return make_small_checkout(folder, [CLAIM])


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which everything was run and published; not to be changed."""
    checkout = configured(tmp_path_factory.mktemp("computed"))
    checkout.snakemake("--cores", "2", "all", "publish")
    return checkout


@pytest.fixture(scope="module")
def rebuilt(computed: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A fresh checkout with what was published, without PyTorch and without data, made from there."""
    checkout = configured(tmp_path_factory.mktemp("rebuilt"))
    shutil.copytree(computed.root / "results/published", checkout.root / "results/published")
    (checkout.root / "src/torch.py").write_text("raise ImportError('nothing trains here')\n", "utf-8")
    checkout.snakemake(*PUBLISHED)
    return checkout


def test_figures_tables_and_verdicts_are_those_of_the_runs(computed: Checkout, rebuilt: Checkout) -> None:
    for folder, ending in (("figures", "png"), ("figures", "pdf"), ("tables", "csv"), ("studies", "png")):
        made = {
            path.relative_to(rebuilt.root): path
            for path in (rebuilt.root / "results" / folder).rglob(f"*.{ending}")
        }
        assert made
        for name, path in made.items():
            assert path.read_bytes() == (computed.root / name).read_bytes(), name
    for scale in ("demo", "paper"):
        claims = [(c.root / f"results/claims/{scale}/claims.json").read_text() for c in (computed, rebuilt)]
        assert claims[0] == claims[1]
        assert json.loads(claims[0])["claims"][0]["verdict"] == "partly"  # one seed
    assert (rebuilt.root / "results/report/all.html").is_file()


def test_nothing_but_the_files_changes_on_publication(computed: Checkout) -> None:
    folder = computed.root / "results"
    tables = [path.relative_to(folder) for path in (folder / "runs").rglob("*.parquet")]
    tables += [path.relative_to(folder) for path in (folder / "studies").rglob("seed-*.parquet")]
    assert len(tables) == 5
    for name in tables:
        ours, published = (pd.read_parquet(path) for path in (folder / name, folder / "published" / name))
        pd.testing.assert_frame_equal(ours, published, check_exact=True)
        assert (folder / "published" / name).stat().st_size < (folder / name).stat().st_size


def test_a_figure_says_that_it_comes_from_published_runs(rebuilt: Checkout) -> None:
    sidecar = json.loads((rebuilt.root / "results/figures/tiny/accuracy_vs_time.json").read_text("utf-8"))
    assert all(run.startswith("results/published/runs/tiny/") for run in sidecar["runs"])


def test_no_rule_can_train_simulate_or_publish(computed: Checkout, rebuilt: Checkout) -> None:
    there = set(rebuilt.snakemake(*PUBLISHED, "--list-rules").split())
    training = {"job", "prepare_data", "partition", "plot_partition", "publish_run", "publish_study", "demo"}
    training |= {f"compute_{kind}" for kind, record in STUDIES.items() if not record.instant}
    assert not there & training
    assert training <= set(computed.snakemake("--list-rules").split())
    assert not (rebuilt.root / "data").exists()


def test_a_run_that_was_not_published_is_an_error_and_not_trained(computed: Checkout, tmp_path: Path) -> None:
    checkout = configured(tmp_path)
    shutil.copytree(computed.root / "results/published", checkout.root / "results/published")
    (checkout.root / "results/published/runs/tiny/pause/seed-0/rounds.parquet").unlink()
    output = checkout.snakemake(*PUBLISHED, ok=False)
    assert "results/published/runs/tiny/pause/seed-0/rounds.parquet" in output
    assert "MissingInput" in output
