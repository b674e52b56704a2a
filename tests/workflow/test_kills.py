"""A whole workflow that is killed again and again, and started again with the same command."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from workspace import PATIENCE_S, TINY_STUDIES, Checkout, make_tiny_checkout

#: A killed Snakemake leaves its lock, which `--unlock` removes; here nobody locks.
COMMAND = ("--nolock", "--cores", "2", "all")

#: What the workflow does when everything is killed, and files that are then new; temporary ones, too.
MOMENTS = {
    "starts its first steps": "results/logs/**/*.log",
    "has saved the state of a job": "results/runs/*/*/*/state.npz",
    "collects the runs": "results/collected/**/*.parquet*",
    "writes the report": "results/report/*.html*",
}

#: What `summary.json` says of the course of a job, and tables of the time and memory that it took.
COURSE = {"timings_s", "resumed_from_rounds", "peak_memory_bytes"}
MEASURED = re.compile(r"wall_s|selection_ms|memory")

#: Also temporary files that a killed step leaves beside prepared data and partitions, each process its own.
LEFT_OUT = re.compile(r"results/(logs|benchmarks)/|data/(.*/)?\.[^/]*\.\d+\.tmp$")


def make(folder: Path) -> Checkout:
    """A checkout whose jobs save their state after every round."""
    checkout = make_tiny_checkout(folder)
    checkout.write_scenario(training={"n_rounds": 40})
    checkout.write_config(studies="config/studies.yaml")
    checkout.write_studies({kind: TINY_STUDIES[kind] for kind in ("regret", "generalization")})
    checkout.edit("workflow/scripts/job.py", "Saving(discard", "Saving(interval=0, discard")
    return checkout


def first_of(moments: Iterable[str], checkout: Checkout, process: subprocess.Popen[str]) -> str:
    """Wait until a process comes to one of these moments: a file is written that was not there, or older."""
    start, deadline = time.time(), time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        for what in moments:
            if any(written(path) > start for path in checkout.root.glob(MOMENTS[what])):
                return what
        time.sleep(0.001)
    raise AssertionError(f"never comes to {', '.join(moments)}: {process.communicate(timeout=60)[0]}")


def written(path: Path) -> float:
    """When; long ago if it is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def results(checkout: Checkout) -> dict[str, object]:
    """Contents of all files but logs and benchmarks, without what was measured."""
    root = checkout.root
    files = [path for name in ("data", "results") for path in (root / name).rglob("*") if path.is_file()]
    names = {str(path.relative_to(root)): path for path in files}
    return {name: content(path) for name, path in names.items() if not LEFT_OUT.match(name)}


def content(path: Path) -> object:
    """The bytes of a file, or what is in it apart from time and memory."""
    match path.name:
        case "summary.json":
            return {
                key: value for key, value in json.loads(path.read_text("utf-8")).items() if key not in COURSE
            }
        case "runs.jsonl":
            lines = map(json.loads, path.read_text("utf-8").splitlines())
            return [{key: line[key] for key in line if key not in COURSE} for line in lines]
        case "runs.csv" | "summary.csv":
            rows = csv.DictReader(path.read_text("utf-8").splitlines())
            return [{key: row[key] for key in row if not MEASURED.search(key)} for row in rows]
        case "summary.md" | "summary.tex" | "all.html":
            return re.sub(r"[\d.]+", "#", path.read_text("utf-8"))
    return path.read_bytes()


@pytest.mark.slow
def test_a_workflow_that_is_killed_at_each_step_gives_the_same_results(tmp_path: Path) -> None:
    whole, killed = make(tmp_path / "whole"), make(tmp_path / "killed")
    whole.snakemake(*COMMAND)
    expected = results(whole)
    ahead = list(MOMENTS)
    while ahead:
        process = killed.start(*COMMAND)
        what = first_of(ahead, killed, process)
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == -signal.SIGKILL, f"{what}: {output}"
        ahead.remove(what)
    killed.snakemake(*COMMAND)
    found = results(killed)
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []
    summaries = killed.root.glob("results/runs/*/*/*/summary.json")
    assert any(json.loads(path.read_text("utf-8"))["resumed_from_rounds"] for path in summaries)
    assert killed.planned("all") == {}
