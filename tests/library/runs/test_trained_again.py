"""Published runs, trained again: the same rounds on the same kind of machine, and close to them elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.federated.job import Job
from pausefl.federated.run_job import data_of_job, run_job
from pausefl.runs.collected import LINES, Collected, read_run, run_folder
from pausefl.runs.run import has_settings
from pausefl.runs.run_id import RunId
from pausefl.settings import RawData, load_scenario

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
                run = run_folder(PUBLISHED, RunId(scenario.name, *key))
                seconds[run] = summary["timings_s"]["total"]
    assert seconds, f"no published run on {source} has today's settings: run them again and publish them"
    return min(seconds, key=lambda path: seconds[path])


def check(published: Path, data_root: Path, out: Path) -> None:
    run = read_run(published)
    scenario = load_scenario(run.scenario, ROOT / "config" / "scenarios")
    job = Job(scenario, run.selector, run.seed, run.summary["n_rounds"], device="cpu")
    run_job(job, *data_of_job(job, RawData(data_root, False, {})), out)
    ours, theirs = read_run(out).rounds, run.rounds
    print(f"trained again: {published.relative_to(ROOT)}")
    if ours.equals(theirs):
        return
    untouched = ["round", "latency_s", "elapsed_s", "leakage_max"]
    if run.selector != "clustered_similarity":  # the only one that looks at what was trained
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
