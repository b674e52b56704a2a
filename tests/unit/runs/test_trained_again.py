"""Published runs, trained again: the same rounds on the same kind of machine, and close to them elsewhere."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pausefl.data.partition import make_partition
from pausefl.data.sources import prepare
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.provenance import hardware, versions
from pausefl.runs.collected import LINES, Collected, read_run, run_folder
from pausefl.runs.run import Run, has_settings
from pausefl.settings import Experiment, RawData, load_scenario
from pausefl.streams import Streams

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "results" / "published"

#: What final accuracies, and the logarithms of losses, may differ by on another kind of machine.
ELSEWHERE = 0.05


def chosen(source: str) -> Path:
    """The quickest of the runs of today's settings whose data come from a source."""
    seconds = {}
    for path in sorted(PUBLISHED.glob(f"*/{LINES}")):
        scenario = load_scenario(path.parent.name, ROOT / "config" / "scenarios")
        runs = Collected(path.parent).summaries.items() if scenario.data.source == source else ()
        for key, summary in runs:
            if has_settings(summary, scenario):
                run = run_folder(PUBLISHED, Experiment(scenario.name, *key))
                seconds[run] = summary["timings_s"]["total"]
    assert seconds, f"no published run on {source} has today's settings: run them again and publish them"
    return min(seconds, key=lambda path: seconds[path])


def trained_again(summary: Mapping[str, Any], data_root: Path, out: Path) -> Run:
    """A run by the summary of another."""
    scenario = load_scenario(summary["scenario"]["name"], ROOT / "config" / "scenarios")
    data = prepare(scenario.data, RawData(data_root, False, {}))
    shares = make_partition(
        data.train_y, scenario.data, scenario.partition, scenario.network.n_users, Streams(summary["seed"])
    )
    job = Job(scenario, summary["selector"], summary["seed"], summary["n_rounds"], True, False, "cpu", 1)
    run_job(job, data, shares, out)
    return read_run(out)


def check(published: Path, data_root: Path, out: Path) -> None:
    run = read_run(published)
    summary, theirs = run.summary, run.rounds
    ours = trained_again(summary, data_root, out).rounds
    print(f"trained again: {published.relative_to(ROOT)}")
    if ours.equals(theirs):
        return
    here, there = {**hardware(), **versions()}, {**summary["hardware"], **summary["versions"]}
    if all(here[key] == there[key] for key in ("machine", "processor", "torch", "numpy", "numba")):
        # A virtual machine may show one name for processors of several generations, which round differently.
        warnings.warn("the same machine by name, but not the same bytes", stacklevel=2)
    untouched = ["round", "latency_s", "elapsed_s", "leakage_max"]
    if summary["selector"] != "clustered_similarity":  # the only one that looks at what was trained
        assert [list(users) for users in ours["selection"]] == [list(users) for users in theirs["selection"]]
        pd.testing.assert_frame_equal(ours[untouched], theirs[untouched])
    last = slice(-10, None)
    accuracies = [rounds["accuracy"].to_numpy(np.float64)[last].mean() for rounds in (ours, theirs)]
    losses = [np.log(rounds["loss"].to_numpy(np.float64)[last].mean()) for rounds in (ours, theirs)]
    measured = losses if np.isnan(accuracies).any() else accuracies
    assert measured[0] == pytest.approx(measured[1], abs=ELSEWHERE)


@pytest.mark.slow
def test_a_run_that_needs_no_data(tmp_path: Path) -> None:
    check(chosen("synthetic_regression"), tmp_path, tmp_path / "out")


@pytest.mark.slow
def test_a_run_on_real_data(data_root: Path, tmp_path: Path) -> None:
    check(chosen("mnist"), data_root, tmp_path / "out")
