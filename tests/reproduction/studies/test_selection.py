"""Selection alone selects as trained jobs do, and its table has means over seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.reproduction.studies.selection import run
from pausefl.runs.collected import read_run, run_folder
from pausefl.runs.run import joined, rounds_of
from pausefl.runs.run_id import RunId
from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "selector", "seed"),
    [
        ("mnist_large_iid_r1", "pause", 3),
        ("mnist_large_iid_r1", "sa_pause", 0),
        ("mnist_large_iid_r1", "clustered_size", 4),
        ("mnist_large_iid_r1", "fedavg", 1),
        ("mnist_large_iid_r2", "pause", 2),
        ("mnist_large_iid_r1_as_run", "sa_pause_best_gain", 0),
        ("cifar10_small_iid_r1_as_run", "sa_pause_v1", 0),
        ("bsfl_fashion_iid", "alsa", 0),
    ],
)
def test_a_simulated_job_is_the_published_one_that_was_trained(name: str, selector: str, seed: int) -> None:
    folder = run_folder(ROOT / "results/published", RunId(name, selector, seed))
    trained = joined(rounds_of([read_run(folder)]).items())
    simulated = run(load_scenario(name, ROOT / "config/scenarios"), selector, seed)
    assert list(simulated) == list(trained)
    for ours, theirs in zip(simulated["selection"], trained["selection"], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    same = ["scenario", "selector", "seed", "round", "latency_s", "elapsed_s", "leakage_max", "leakage_mean"]
    pd.testing.assert_frame_equal(simulated[same], trained[same], rtol=1e-12)
    assert simulated[["train_loss", "accuracy", "loss"]].isna().all(axis=None)
