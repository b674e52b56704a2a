"""The workflow, really run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from workspace import Checkout, make_checkout

from pausefl.registry import FIGURES

PAGES = ["write_metrics", "write_report"]
RUNS = [f"{selector}/seed-{seed}" for selector in ("pause", "fedavg") for seed in (0, 1)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which the tiny workflow ran to its end on two cores; not to be changed."""
    checkout = make_checkout(tmp_path_factory.mktemp("finished"))
    checkout.write_scenario()
    checkout.write_config()
    checkout.snakemake("--cores", "2")
    return checkout


@pytest.fixture
def copy(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the finished checkout that a test may change."""
    shutil.copytree(finished.root, tmp_path / "copy")
    return Checkout(tmp_path / "copy")


def rounds(checkout: Checkout, run: str) -> pd.DataFrame:
    """What a run of the tiny scenario recorded."""
    return pd.read_parquet(checkout.root / f"results/runs/tiny/{run}/rounds.parquet")


def test_everything_promised_is_there(finished: Checkout) -> None:
    results = finished.root / "results"
    for run in RUNS:
        names = {path.name for path in (results / "runs/tiny" / run).iterdir()}
        assert names == {"rounds.parquet", "ledger.parquet", "summary.json"}
        assert len(rounds(finished, run)) == 4
    for kind in FIGURES:
        for extension in ("png", "pdf", "json"):
            assert (results / f"figures/tiny/{kind}.{extension}").stat().st_size > 0
    for table in ("summary", "privacy"):
        assert "PAUSE" in (results / f"tables/tiny/{table}.md").read_text("utf-8")
    for kind in FIGURES:
        assert json.loads((results / f"figures/tiny/{kind}.json").read_text("utf-8"))["notes"] == []
    assert "**Demo: small data" in (results / "tables/tiny/summary.md").read_text("utf-8")
    assert len(list((finished.root / "data/partitions").rglob("seed-*.png"))) == 2
    assert len(list((results / "benchmarks/job").rglob("seed-*.tsv"))) == 4


def test_nothing_is_left_to_do(finished: Checkout) -> None:
    assert finished.planned() == {}


@pytest.mark.slow
def test_one_core_gives_the_same_rounds_as_two(finished: Checkout, checkout: Checkout) -> None:
    checkout.snakemake("--cores", "1")
    for run in RUNS:
        pd.testing.assert_frame_equal(rounds(finished, run), rounds(checkout, run), check_exact=True)


@pytest.mark.slow
def test_report_holds_every_caption(finished: Checkout) -> None:
    finished.snakemake("--cores", "1", "--report", "report.html")
    report = (finished.root / "report.html").read_text("utf-8")
    for words in ("Tiny: test accuracy against simulated time", "2 seeds (0, 1)", "handwritten digits", "D8"):
        assert words in report


@pytest.mark.parametrize(
    ("path", "old", "new", "reruns"),
    [
        pytest.param(
            "src/pausefl/figures/style.py",
            '"axes.linewidth"',
            '"lines.markersize": 3.0,\n    "axes.linewidth"',
            {"plot_figure", "write_report"},
            id="plotting",
        ),
        pytest.param(
            "src/pausefl/privacy/mechanisms.py",
            "self.width / 2)",
            "self.width / 3)",
            {"plot_figure", "table", "privacy_table", "job", *PAGES},
            id="mechanism",
        ),
        pytest.param("src/pausefl/privacy/mechanisms.py", '"""', '"""Reworded. ', set(), id="docstring"),
        pytest.param(
            "src/pausefl/settings/scenario.py", "exceeds network.n_users", "is above it", set(), id="message"
        ),
        pytest.param(
            "config/scenarios/tiny.yaml", "title: Tiny", "title: Small", None, id="title of the scenario"
        ),
    ],
)
def test_an_edit_reruns_what_depends_on_it(
    copy: Checkout, path: str, old: str, new: str, reruns: set[str] | None
) -> None:
    copy.edit(path, old, new)
    planned = copy.planned()
    if reruns is None:
        assert "job" not in planned
        assert "plot_figure" in planned
    else:
        assert set(planned) - {"plot_partition"} == reruns


def test_a_base_counts_as_if_it_were_written_out(copy: Checkout) -> None:
    folder = copy.root / "config/scenarios"
    (folder / "tiny.yaml").rename(folder / "whole.yaml")
    copy.edit("config/scenarios/whole.yaml", "name: tiny", "name: whole")
    head = "name: tiny\ntitle: Tiny\nbase: whole\n"
    (folder / "tiny.yaml").write_text(f"{head}figures: {{tiny_accuracy: accuracy_vs_time}}\n", "utf-8")
    assert copy.planned() == {}
    copy.edit("config/scenarios/whole.yaml", "learning_rate: ", "learning_rate: 0.5  # ")
    planned = copy.planned()
    assert (planned["job"], planned["table"], "partition" in planned) == (4, 1, False)


@pytest.mark.slow
def test_runs_of_other_code_that_diverged_are_told_of(copy: Checkout) -> None:
    path = copy.root / "results/runs/tiny/pause/seed-1/summary.json"
    summary = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(summary | {"code_hash": "0" * 16, "diverged_round": 3}), "utf-8")
    copy.snakemake("--cores", "1", "--report", "report.html", "--report-after-run", "tiny")
    sidecar = json.loads((copy.root / "results/figures/tiny/accuracy_vs_time.json").read_text("utf-8"))
    assert sidecar["notes"] == [
        "Diverged: PAUSE (seed 1 in round 3).",
        "Runs of different versions of the code: seeds of PAUSE differ (0 | 1).",
    ]
    for table in ("summary", "privacy"):
        text = (copy.root / f"results/tables/tiny/{table}.md").read_text("utf-8")
        assert "**Runs of different versions of the code: seeds of PAUSE differ (0 | 1).**" in text
    assert "seeds of PAUSE differ (0 | 1)" in (copy.root / "report.html").read_text("utf-8")


def test_another_seed_trains_that_seed_alone(copy: Checkout) -> None:
    copy.write_config(
        experiments=[{"scenario": "tiny", "selectors": ["pause", "fedavg"], "seeds": [0, 1, 2]}]
    )
    planned = copy.planned()
    assert (planned["job"], planned["partition"]) == (2, 1)


def test_a_lost_run_is_made_again_and_nothing_else(copy: Checkout) -> None:
    before = rounds(copy, "pause/seed-1")
    (copy.root / "results/runs/tiny/pause/seed-1/rounds.parquet").unlink()
    (copy.root / "results/tables/tiny/rounds.parquet").unlink()
    assert copy.planned()["job"] == 1
    copy.snakemake("--cores", "2")
    pd.testing.assert_frame_equal(before, rounds(copy, "pause/seed-1"), check_exact=True)


@pytest.mark.slow
def test_a_killed_workflow_goes_on_without_losing_what_was_finished(checkout: Checkout) -> None:
    checkout.write_scenario(training={"n_rounds": 60})
    process = checkout.start("--cores", "1")
    runs = checkout.root / "results/runs/tiny"
    deadline = time.monotonic() + 120
    # Once the folder of a second job is there, the workflow has taken note of the first.
    while len(list(runs.glob("*/*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)  # into the next job
    finished = list(runs.glob("*/*/summary.json"))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert 0 < len(finished) < 4
    stamps = {path: path.stat().st_mtime_ns for path in finished}
    checkout.snakemake("--unlock")
    checkout.snakemake("--cores", "2", "--rerun-incomplete")
    assert len(list(runs.glob("*/*/summary.json"))) == 4
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps
