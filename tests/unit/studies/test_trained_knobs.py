"""Runs of changed scenarios are collected, and compared at equal time."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from worlds import trained

from pausefl.results.intervals import estimate
from pausefl.results.outcomes import moving_average
from pausefl.runs.run import Run
from pausefl.settings import Experiment, Scenario
from pausefl.studies import changes
from pausefl.studies.changes import Changes


def curve(knob: str, value: str, selector: str, seed: int, pace: float, accuracy: float) -> pd.DataFrame:
    t = np.arange(10, 60, 10)
    return pd.DataFrame(
        {"knob": knob, "value": value, "selector": selector, "seed": seed, "round": t}
    ).assign(elapsed_s=pace * t, accuracy=accuracy * t / 50, leakage_max=1.0)


def test_selectors_are_compared_when_the_first_of_two_runs_ends() -> None:
    curves = pd.concat(
        [
            *(curve("usual", "usual", "pause", seed, 1.0, 0.8 + 0.1 * seed) for seed in (0, 1)),
            *(curve("usual", "usual", "random", seed, 2.0, 0.8) for seed in (0, 1)),
            *(curve("variants", "no_p", "pause", seed, 4.0, 0.8) for seed in (0, 1)),
        ],
        ignore_index=True,
    )
    usual, without = changes.compare(curves).to_dict("records")
    assert (usual["selector"], usual["other"], usual["n_seeds"], usual["end_s"]) == ("pause", "random", 2, 50)
    # At 50 s pause has made all rounds, random half of them.
    assert (usual["accuracy"], usual["accuracy_other"]) == pytest.approx((0.85, 0.4))
    interval = ttest_1samp([0.4, 0.5], 0).confidence_interval(0.95)
    assert (usual["difference_low"], usual["difference_high"]) == pytest.approx((interval.low, interval.high))
    # From 20 s, random's first point: pause rises from 0.32 (0.36) to 0.8 (0.9), random from 0.16 to 0.4.
    assert usual["difference_over_time"] == pytest.approx(0.595 - 0.28)
    # Random selection has no run of its own without the privacy term.
    assert (without["end_s"], without["accuracy_other"]) == pytest.approx((100, 0.8))
    assert without["accuracy"] == pytest.approx(0.4)


def test_one_seed_has_no_interval() -> None:
    mean, low, high = estimate(np.array([0.5]))
    assert mean == 0.5
    assert math.isnan(low)
    assert math.isnan(high)


def test_runs_are_collected_by_change(demo: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Changes(
        title="",
        scenario=demo.replace(selectors=("pause", "random")),
        seeds=(0, 1),
        variants={"no_p": {"reward.gamma": 0}},
        train=True,
    )
    asked: list[dict[Experiment, Path]] = []

    def read_runs(folders: dict[Experiment, Path]) -> dict[Experiment, Run]:
        asked.append(folders)
        rounds = trained(np.arange(25) / 25, round_s=0.5)
        keys = (({"name": row.scenario}, row.selector, row.seed) for row in folders)
        summaries = (dict(zip(("scenario", "selector", "seed"), key, strict=True)) for key in keys)
        return {row: Run(rounds, pd.DataFrame(), one) for row, one in zip(folders, summaries, strict=True)}

    monkeypatch.setattr(changes, "read_runs", read_runs)
    folders = {Experiment(name, *run): Path(name) for name, own in study.runs.items() for run in own}
    curves = study.compute(lambda note: None, folders)["curves.parquet"]
    assert [len(one) for one in asked] == [4, 2]
    assert {path.name for path in asked[1].values()} == {f"{demo.name}_no_p"}
    assert (
        curves.groupby(["knob", "value", "selector", "seed"])["round"].apply(list).tolist()
        == [[10, 20, 25]] * 6
    )
    smooth = moving_average(np.arange(25) / 25)
    assert curves["accuracy"].iloc[:3].tolist() == pytest.approx(smooth[[9, 19, 24]].tolist())
