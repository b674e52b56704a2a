"""The workflow, really run."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest
from workspace import Checkout

import pausefl

#: Those that the scenario names, and one of each other kind with privacy.
FIGURES = ["accuracy", "spending", "leakage_vs_time", "leakage_vs_rounds", "loss_vs_time"]
RUNS = [f"{selector}/seed-{seed}" for selector in ("pause", "fedavg") for seed in (0, 1)]
TARGETS = [f"results/runs/tiny/{run}/rounds.parquet" for run in RUNS]


def rounds(checkout: Checkout, run: str) -> pd.DataFrame:
    """What a run of the tiny scenario recorded."""
    return pd.read_parquet(checkout.root / f"results/runs/tiny/{run}/rounds.parquet")


def test_everything_promised_is_there_and_nothing_is_left_to_do(finished: Checkout) -> None:
    results = finished.root / "results"
    for run in RUNS:
        names = {path.name for path in (results / "runs/tiny" / run).iterdir()}
        assert names == {"rounds.parquet", "ledger.parquet", "summary.json"}
        assert len(rounds(finished, run)) == 4
        collected = pausefl.read_run(results / "collected/tiny" / run)
        ours = pausefl.read_run(results / "runs/tiny" / run)
        assert collected.summary == ours.summary
        pd.testing.assert_frame_equal(collected.rounds, ours.rounds, check_exact=True)
        pd.testing.assert_frame_equal(collected.ledger, ours.ledger, check_exact=True)
    figures = [f"tiny_{name}.{extension}" for name in FIGURES for extension in ("png", "pdf", "json")]
    assert {path.name for path in (results / "figures").iterdir() if path.stat().st_size > 0} == {*figures}
    for path in (results / "figures").glob("*.json"):
        assert json.loads(path.read_text("utf-8"))["notes"] == []
    tables = [f"{name}.{extension}" for name in ("summary", "privacy") for extension in ("csv", "md", "tex")]
    assert {path.name for path in (results / "tables/tiny").glob("[!.]*")} == {*tables, "runs.csv"}
    for table in ("summary", "privacy"):
        assert "PAUSE" in (results / f"tables/tiny/{table}.md").read_text("utf-8")
    assert "**Demo: small data" in (results / "tables/tiny/summary.md").read_text("utf-8")
    assert len(list((finished.root / "data/partitions").rglob("seed-*.png"))) == 1
    assert len(list((results / "benchmarks/job").rglob("seed-*.tsv"))) == 4
    assert finished.planned() == {}


def test_logs_are_text_and_say_how_a_job_went(finished: Checkout) -> None:
    logs = {path: path.read_text("utf-8") for path in (finished.root / "results/logs").rglob("*.log")}
    assert not [path for path, text in logs.items() if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)]
    last = r"round 4 of 4, [\d.]+ simulated s, accuracy [\d.]+%, largest leakage [\d.]+\n"
    for run in RUNS:
        assert re.search(last, logs[finished.root / f"results/logs/job/tiny/{run}.log"])


#: What is made from collected runs.
SHOWN = {"figures": 5, "tables": 1, "report": 1}


@pytest.mark.parametrize(
    ("path", "old", "new", "reruns"),
    [
        pytest.param(
            "src/pausefl/figures/pausefl.mplstyle",
            "lines.markersize: 4.8",
            "lines.markersize: 3.0",
            {"plot_partition": 1, **SHOWN},
            id="plotting",
        ),
        pytest.param(
            "src/pausefl/figures/spending.py",
            '"linewidth": 1.6',
            '"linewidth": 1.7',
            {"figures": 1, "report": 1},
            id="one kind of figure",
        ),
        pytest.param(
            "src/pausefl/privacy/mechanisms.py",
            "self.width / 2)",
            "self.width / 3)",
            {"job": 4, "collect": 1, **SHOWN},
            id="mechanism",
        ),
        pytest.param(
            "src/pausefl/selectors/pause.py",
            "return pivot_and_fill(",
            "return +pivot_and_fill(",
            {"job": 2, "collect": 1, "plot_partition": 1, **SHOWN},  # figures may use any selector's look
            id="one selector",
        ),
        pytest.param("config/scenarios/tiny.yaml", "title: Tiny", "title: Small", SHOWN, id="title"),
    ],
)
def test_an_edit_reruns_what_depends_on_it(
    copy: Checkout, path: str, old: str, new: str, reruns: dict[str, int]
) -> None:
    copy.edit(path, old, new)
    assert copy.planned() == reruns


def test_words_and_the_place_of_a_setting_rerun_nothing(copy: Checkout) -> None:
    copy.edit("src/pausefl/privacy/mechanisms.py", '"""', '"""Reworded. ')
    copy.edit("src/pausefl/bandit/settings.py", "exceeds network.n_users", "is above it")
    folder = copy.root / "config/scenarios"
    (folder / "tiny.yaml").rename(folder / "whole.yaml")
    copy.edit("config/scenarios/whole.yaml", "name: tiny", "name: whole")
    figures = "{tiny_accuracy: accuracy_vs_time, tiny_spending: spending_vs_rounds}"
    head = "name: tiny\ntitle: Tiny\nscale: demo\nbase: whole\n"
    (folder / "tiny.yaml").write_text(f"{head}figures: {figures}\n", "utf-8")
    assert copy.planned() == {}
    copy.edit("config/scenarios/whole.yaml", "learning_rate: ", "learning_rate: 0.5  # ")
    planned = copy.planned()
    assert (planned["job"], planned["tables"], "partition" in planned) == (4, 1, False)


def test_a_lost_run_and_another_seed_are_made_and_nothing_else(copy: Checkout) -> None:
    before = rounds(copy, "pause/seed-1")
    (copy.root / "results/runs/tiny/pause/seed-1/rounds.parquet").unlink()
    assert copy.planned()["job"] == 1  # though all figures are there
    row = {"scenario": "tiny", "selectors": ["pause", "fedavg"], "seeds": [0, 1, 2]}
    copy.write_config(experiments=[row])
    planned = copy.planned()
    assert (planned["job"], planned["partition"], planned["collect"]) == (1 + 2, 1, 1)
    copy.snakemake("--cores", "1", *TARGETS)
    pd.testing.assert_frame_equal(before, rounds(copy, "pause/seed-1"), check_exact=True)


def test_what_is_shown_is_made_from_collected_runs_alone(copy: Checkout) -> None:
    figure = copy.root / "results/figures/tiny_accuracy.png"
    before = figure.read_bytes()
    shutil.rmtree(copy.root / "results/runs")
    assert copy.planned("tiny")["job"] == 4
    figure.unlink()
    shutil.rmtree(copy.root / "results/tables/tiny")
    wanted = ("tiny_accuracy", "results/tables/tiny")
    assert copy.planned(*wanted) == {"figures": 1, "tables": 1}
    copy.snakemake("--cores", "1", *wanted)
    assert figure.read_bytes() == before
    assert not (copy.root / "results/runs").exists()


@pytest.mark.slow
def test_a_run_that_diverged_is_told_of(copy: Checkout) -> None:
    path = copy.root / "results/runs/tiny/pause/seed-1/summary.json"
    summary = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(summary | {"diverged_round": 3}), "utf-8")
    shown = ["tiny_accuracy", "results/report/tiny.html"]
    copy.snakemake("--cores", "2", "--report", "report.html", "--report-after-run", "--", *shown)
    sidecar = json.loads((copy.root / "results/figures/tiny_accuracy.json").read_text("utf-8"))
    assert sidecar["notes"] == ["Diverged: PAUSE (seed 1 in round 3)."]
    for table in ("summary", "privacy"):
        text = (copy.root / f"results/tables/tiny/{table}.md").read_text("utf-8")
        assert "**Diverged: PAUSE (seed 1 in round 3).**" in text
    assert "The whole caption" in (copy.root / "report.html").read_text("utf-8")
    report = (copy.root / "results/report/tiny.html").read_text("utf-8")
    for words in ("seeds 0, 1;", "handwritten digits", "D8", "seed 1 in round 3"):
        assert words in report


TWIN = """
name: twin
title: Tiny, reward R2
base: tiny
reward: {name: r2, n_clusters: 2, overlap_penalty: 0.01, overlap_latency: 0.5}
figures: {}
"""


def test_what_trains_the_same_under_another_reward_is_trained_once(copy: Checkout) -> None:
    (copy.root / "config/scenarios/twin.yaml").write_text(TWIN, "utf-8")
    tiny = {"scenario": "tiny", "selectors": ["pause", "fedavg"], "seeds": [0, 1]}
    twin = {"scenario": "twin", "selectors": ["pause", "fedavg"], "seeds": [0]}
    copy.write_config(experiments=[tiny, twin])
    wanted = [f"results/runs/twin/{selector}/seed-0/summary.json" for selector in ("pause", "fedavg")]
    assert copy.planned(*wanted)["job"] == 2
    copy.snakemake("--cores", "2", *wanted)
    paused, taken_over = (json.loads((copy.root / path).read_text("utf-8")) for path in wanted)
    assert "trained_by" not in paused
    assert taken_over["trained_by"]["scenario"] == "tiny"
    ours, theirs = (
        pd.read_parquet(copy.root / f"results/runs/{name}/fedavg/seed-0/rounds.parquet")
        for name in ("twin", "tiny")
    )
    pd.testing.assert_series_equal(ours["accuracy"], theirs["accuracy"], check_exact=True)
    assert (ours["latency_s"] == theirs["latency_s"] + 2 * 0.5).all()  # 4 users in 2 clusters
    assert copy.planned(*wanted) == {}
    # The run under R1 is made if it is not there.
    shutil.rmtree(copy.root / "results/runs")
    assert copy.planned(wanted[1])["job"] == 2


@pytest.mark.slow
def test_a_figure_or_table_that_fails_leaves_the_others_and_no_part_of_it(copy: Checkout) -> None:
    for name in ("figures", "tables"):
        shutil.rmtree(copy.root / "results" / name)
    plots = "def plot_loss_vs_time(rounds: pd.DataFrame, scenario: Scenario) -> Plotted:"
    tables = '(folder / f"{kind}.md").write_text(text, encoding="utf-8")'
    edits = (("figures/runs.py", plots, f"{plots}\n    raise RuntimeError('no ink')"),)
    edits += (("results/scenario.py", tables, f"1 / (kind != 'privacy'); {tables}"),)
    for path, old, new in edits:
        copy.edit(f"src/pausefl/{path}", old, new)
    output = copy.snakemake("--cores", "1", "--keep-going", "tiny", ok=False)
    for words in ("RuntimeError: no ink", "ZeroDivisionError", "FAILED: figures tiny_loss_vs_time"):
        assert words in output
    made = {path.stem for path in (copy.root / "results/figures").glob("*.pdf")}
    assert made == {f"tiny_{name}" for name in FIGURES} - {"tiny_loss_vs_time"}
    assert list((copy.root / "results/tables").glob("**/*.*")) == []
    for path, old, new in edits:
        copy.edit(f"src/pausefl/{path}", new, old)
    assert copy.planned("tiny").keys() == {"figures", "tables"}
    copy.snakemake("--cores", "1", "tiny")
    assert (copy.root / "results/figures/tiny_loss_vs_time.pdf").exists()
    assert copy.planned("tiny") == {}


@pytest.mark.slow
def test_a_killed_workflow_goes_on_without_losing_what_was_finished(
    copy: Checkout, finished: Checkout
) -> None:
    shutil.rmtree(copy.root / "results")
    copy.write_scenario(training={"n_rounds": 60})
    process = copy.start("--cores", "1", *TARGETS)
    runs = copy.root / "results/runs/tiny"
    deadline = time.monotonic() + 600
    ended: list[Path] = []
    # Another job holds its lock once Snakemake has taken note that the first has ended.
    while not ended or {path.parent for path in runs.glob("*/*/job.lock")} <= {path.parent for path in ended}:
        assert time.monotonic() < deadline
        time.sleep(0.02)
        ended = list(runs.glob("*/*/summary.json"))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert 0 < len(ended) < 4
    summaries = {path: path.read_bytes() for path in ended}  # which have the time that each took
    said = copy.snakemake("--cores", "1", *TARGETS, ok=False)
    assert "--unlock" in said
    copy.snakemake("--unlock")
    copy.snakemake("--cores", "1", *TARGETS)
    assert len(list(runs.glob("*/*/summary.json"))) == 4
    assert {path: path.read_bytes() for path in ended} == summaries
    # On one core as on two, and a shorter run is the beginning of a longer one.
    for run in RUNS:
        pd.testing.assert_frame_equal(rounds(copy, run).head(4), rounds(finished, run), check_exact=True)
