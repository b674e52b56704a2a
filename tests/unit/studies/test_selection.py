"""Selection alone selects as trained jobs do, and its table has means over seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pausefl.runs.collected import read_run, run_folder
from pausefl.runs.run import rounds_of
from pausefl.settings import Experiment, Scenario, load_scenario
from pausefl.studies.selection import Selection, run

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("name", "selector", "seed"),
    [
        ("mnist_large_iid_r1", "pause", 3),
        ("mnist_large_iid_r1", "sa_pause", 0),
        ("mnist_large_iid_r1", "clustered_size", 4),
        ("mnist_large_iid_r1", "fedavg", 1),
        ("mnist_large_iid_r2", "pause", 2),
        ("cifar10_small_authors", "sa_pause", 0),
    ],
)
def test_a_simulated_job_is_the_published_one_that_was_trained(name: str, selector: str, seed: int) -> None:
    folder = run_folder(ROOT / "results/published", Experiment(name, selector, seed))
    trained = rounds_of([read_run(folder)])
    simulated = run(load_scenario(name, ROOT / "config/scenarios"), selector, seed)
    assert list(simulated) == list(trained)
    for ours, theirs in zip(simulated["selection"], trained["selection"], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    same = ["scenario", "selector", "seed", "round", "latency_s", "elapsed_s", "leakage_max", "leakage_mean"]
    pd.testing.assert_frame_equal(simulated[same], trained[same], rtol=1e-12)
    assert simulated[["train_loss", "accuracy", "loss"]].isna().all(axis=None)


def test_the_summary_is_over_seeds_at_the_end(demo: Scenario) -> None:
    scenario = demo.replace(selectors=("pause", "fedavg_no_privacy"))
    study = Selection(title="", scenario=scenario, seeds=(0, 1, 2))
    tables = study.compute(lambda note: None)
    plotted = study.plot(tables)
    table = plotted.tables["summary.csv"].set_index("selector")
    assert table["n_seeds"].tolist() == [3, 3]
    rounds = tables["rounds.parquet"]
    last = rounds[(rounds["selector"] == "pause") & (rounds["round"] == demo.training.n_rounds)]
    for column in ("elapsed_s", "leakage_max", "leakage_mean"):
        assert table.loc["pause", f"{column}_mean"] == pytest.approx(last[column].mean())
        assert table.loc["pause", f"{column}_sd"] == pytest.approx(last[column].std())
    mean_round = last["elapsed_s"].mean() / demo.training.n_rounds
    assert table.loc["pause", "round_s_mean"] == pytest.approx(mean_round)
    assert table.loc["fedavg_no_privacy", "leakage_max_mean"] == np.inf
    assert np.isnan(table.loc["fedavg_no_privacy", "leakage_max_sd"])
