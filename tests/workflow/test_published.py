"""Published runs: every figure, table and verdict is made from them, on a path on which nothing can train."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from workspace import Checkout

pytestmark = pytest.mark.slow

PUBLISHED = ("--config", "runs=published", "--cores", "2")


def test_figures_tables_and_verdicts_are_those_of_the_runs(everything: Checkout, tmp_path: Path) -> None:
    """In a checkout with what was published, without PyTorch and without data."""
    rebuilt = everything.copy(tmp_path / "checkout", "data", ".snakemake")
    for path in (rebuilt.root / "results").iterdir():
        if path.name != "published":
            shutil.rmtree(path)
    (rebuilt.root / "src/torch.py").write_text("raise ImportError('nothing trains here')\n", "utf-8")
    rebuilt.snakemake(*PUBLISHED)
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
