"""The workflow, really run."""

from __future__ import annotations

import json
import os
import re

import pandas as pd
from workspace import Checkout

import pausefl

#: Those that the scenario names, and one of each other kind with privacy.
FIGURES = ["accuracy", "spending", "leakage_vs_time", "leakage_vs_rounds", "loss_vs_time"]
RUNS = [f"{selector}/seed-{seed}" for selector in ("pause", "fedavg") for seed in (0, 1)]
TARGETS = [f"results/runs/tiny/{run}/rounds.parquet" for run in RUNS]
JOB, STEP = "workflow/scripts/job.py", "src/pausefl/reproduction/targets/step.py"


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
    kinds = ("summary", "speed", "budget", "privacy")
    tables = [f"{name}.{extension}" for name in kinds for extension in ("csv", "md", "tex")]
    assert {path.name for path in (results / "tables/tiny").glob("[!.]*")} == {*tables, "runs.csv"}
    for table in kinds:
        assert "PAUSE" in (results / f"tables/tiny/{table}.md").read_text("utf-8")
    assert "**Demo: small data" in (results / "tables/tiny/summary.md").read_text("utf-8")
    assert len(list((finished.root / "data/partitions").rglob("seed-*.png"))) == 1
    assert finished.planned("--snakefile", "workflow/Snakefile") == {}  # the other entry point


def test_logs_are_text_and_say_how_a_job_went(finished: Checkout) -> None:
    logs = {path: path.read_text("utf-8") for path in (finished.root / "results/logs").rglob("*.log")}
    assert not [path for path, text in logs.items() if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)]
    last = r"round 4 of 4, [\d.]+ simulated s, accuracy [\d.]+%, largest budget spent [\d.]+\n"
    for run in RUNS:
        assert re.search(last, logs[finished.root / f"results/logs/job/tiny/{run}.log"])


#: What is made from collected runs.
SHOWN = {"figures": 1, "tables": 1, "report": 1}


def test_an_edit_reruns_what_depends_on_it(copy: Checkout) -> None:
    copy.edit("src/pausefl/data/sources/digits.py", 'origin = "handwritten', 'origin = "hand-written')
    assert copy.planned() == {"report": 1}  # which says where the data came from
    copy.edit("src/pausefl/analysis/figures/spending.py", '"linewidth": 1.6', '"linewidth": 1.7')
    assert copy.planned() == {"figures": 1, "report": 1}
    copy.edit("src/pausefl/selectors/pause.py", "return pivot_and_fill(", "return +pivot_and_fill(")
    # Figures may use any selector's look.
    assert copy.planned() == {"job": 2, "collect": 1, "plot_partition": 1, **SHOWN}
    copy.edit(JOB, "discard=True", "discard=False")
    assert copy.planned() == {"job": 4, "collect": 1, "plot_partition": 1, **SHOWN}
    copy.edit(STEP, 'note("started")', 'note("begun")')
    planned = copy.planned()
    assert (planned["job"], planned["prepare"], planned["report"]) == (4, 1, 1)


def test_words_times_of_files_and_the_place_of_a_setting_rerun_nothing(copy: Checkout) -> None:
    os.utime(copy.root / JOB)
    copy.edit(JOB, '"""Run one federated job', '"""Make one federated job')
    copy.edit(STEP, '"""Keep the rule\'s log', '"""Keep the log of a rule')
    copy.edit("src/pausefl/privacy/mechanisms.py", '"""', '"""Reworded. ')
    copy.edit("src/pausefl/bandit/settings.py", "exceeds network.n_users", "is above it")
    folder = copy.root / "config/scenarios"
    (folder / "tiny.yaml").rename(folder / "whole.yaml")
    copy.edit("config/scenarios/whole.yaml", "name: tiny", "name: whole")
    figures = "{tiny_accuracy: accuracy_vs_time, tiny_spending: spending_vs_rounds}"
    head = "name: tiny\ntitle: Tiny\nscale: demo\nbase: whole\n"
    (folder / "tiny.yaml").write_text(f"{head}figures: {figures}\n", "utf-8")
    assert copy.planned() == {}


def test_a_lost_run_and_another_seed_are_made_and_nothing_else(copy: Checkout) -> None:
    before = rounds(copy, "pause/seed-1")
    (copy.root / "results/runs/tiny/pause/seed-1/rounds.parquet").unlink()  # though all figures are there
    row = {"scenario": "tiny", "selectors": ["pause", "fedavg"], "seeds": [0, 1, 2]}
    copy.write_config(experiments=[row])
    planned = copy.planned()
    assert (planned["job"], planned["partition"], planned["collect"]) == (1 + 2, 1, 1)
    copy.snakemake("--cores", "1", *TARGETS)
    pd.testing.assert_frame_equal(before, rounds(copy, "pause/seed-1"), check_exact=True)


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
