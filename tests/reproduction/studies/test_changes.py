"""One setting is changed at a time; what is measured is what the rounds say, at equal time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from pausefl.analysis.outcomes import jain
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.changes import METRICS, Changes, Knob, compare, effects, measure
from pausefl.settings import Scenario


@pytest.fixture(scope="module")
def study(demo: Scenario) -> Changes:
    short = demo.replace(training=demo.training.replace(n_rounds=20), selectors=("pause", "sa_pause"))
    return Changes(
        title="",
        scenario=short,
        seeds=(0, 1),
        knobs=(
            Knob(key="reward.alpha", values=(1, 500)),
            Knob(key="selection.n_iterations", values=(1, 2)),
            Knob(key="privacy.decay", values=(0.5,)),
        ),
        variants={"no_p": {"reward.gamma": 0}},
    )


@pytest.fixture(scope="module")
def runs(study: Changes) -> pd.DataFrame:
    return study.compute(lambda note: None)["knobs.parquet"]


def test_jains_index_is_one_for_equals_and_one_nth_for_one_of_n() -> None:
    assert jain(np.full(7, 3.0)) == pytest.approx(1)
    assert jain(np.array([0.0, 5, 0, 0])) == pytest.approx(0.25)
    assert jain(np.array([1.0, 2, 3])) == pytest.approx(36 / 42)
    assert jain(np.zeros(3)) == 1


def test_measures_are_those_of_the_rounds(study: Changes) -> None:
    scenario = study.scenario
    found = measure(scenario, "pause", 1)
    rounds = selection_only(scenario, "pause", 1).run(20).rounds
    latency, n_users = scenario.network.make_latency().means(), scenario.network.n_users
    users = np.concatenate(list(rounds["selection"]))
    assert scenario.privacy is not None
    spent = scenario.privacy.make_schedule().spent(np.bincount(users, minlength=n_users))
    assert found["elapsed_s"] == rounds["latency_s"].sum()
    assert (found["leakage_max"], found["leakage_mean"]) == pytest.approx((spent.max(), spent.mean()))
    assert found["fairness"] == pytest.approx(spent.sum() ** 2 / n_users / (spent**2).sum())
    assert found["slow_share"] == pytest.approx((users >= n_users // 2).mean())
    spreads = [latency[list(one)].max() - latency[list(one)].min() for one in rounds["selection"]]
    assert found["spread_s"] == pytest.approx(np.mean(spreads))


def test_a_setting_changes_what_it_concerns_and_nothing_else(study: Changes, runs: pd.DataFrame) -> None:
    table = runs.set_index(["knob", "value", "selector", "seed"]).sort_index()
    assert len(table) == (1 + 5 + 1) * 2 * 2
    usual = table.loc["usual", "usual"]
    for value in ("1", "2"):
        tried = table.loc["selection.n_iterations", value]
        pd.testing.assert_frame_equal(tried.loc["pause"], usual.loc["pause"])
        assert not tried.loc["sa_pause"].equals(usual.loc["sa_pause"])
    assert not table.loc["reward.alpha", "500"].equals(usual)
    assert (table.loc["privacy.decay", "0.5"]["leakage_max"] > usual["leakage_max"]).all()
    summary = study.plot({"knobs.parquet": runs}).tables["summary.csv"]
    row = summary.set_index(["knob", "value", "selector"]).loc[("variants", "no_p", "pause")]
    own = table.loc["variants", "no_p", "pause"]["elapsed_s"]
    assert row[["elapsed_s_mean", "elapsed_s_sd"]].tolist() == pytest.approx([own.mean(), own.std()])


def test_effects_are_those_of_the_means_with_intervals_over_seeds() -> None:
    runs = pd.DataFrame(
        [
            {"knob": knob, "value": value, "selector": selector, "seed": seed}
            | dict.fromkeys(METRICS, time + seed + noise * seed)
            for knob, value, time, noise in (
                ("usual", "usual", 10.0, 0),
                ("reward.alpha", "30", 15.0, 2),
                ("reward.alpha", "4", 12.0, 0),
                ("reward.alpha", "100", 20.0, 0),
                ("reward.beta", "2", 20.0, 0),
                ("reward.beta", "3", 15.0, 0),
                ("variants", "no_p", 10.0, 2),
            )
            for selector in ("pause", "random")
            for seed in (0, 1)
        ]
    )
    table = effects(runs, {"reward.alpha": "10", "reward.beta": "2"})
    table = table.set_index(["knob", "value", "selector", "metric"])
    found = table.xs(("random", "leakage_max"), level=("selector", "metric"))
    # The usual mean is 10.5; of beta, which has runs of its usual value, 20.5.
    assert found["change"].to_dict() == pytest.approx(
        {
            ("reward.alpha", "4"): 200 / 10.5,
            ("reward.alpha", "100"): 1000 / 10.5,
            ("reward.beta", "3"): -500 / 20.5,
            ("variants", "no_p"): 100 / 10.5,
        }
    )
    assert found.loc[("reward.alpha", "4"), "low"] == pytest.approx(200 / 10.5)
    assert found.loc[("variants", "no_p"), "low"] < 0 < found.loc[("variants", "no_p"), "high"]


def curve(value: str, selector: str, seed: int, pace: float, accuracy: float) -> pd.DataFrame:
    knob, t = "variants" if value == "no_p" else value, np.arange(10, 60, 10)
    table = pd.DataFrame({"knob": knob, "value": value, "selector": selector, "seed": seed, "round": t})
    return table.assign(elapsed_s=pace * t, accuracy=accuracy * t / 50, leakage_max=1.0)


def test_a_mean_over_time_counts_its_ends_as_any_moment() -> None:
    bowl = [1.0, 0.5, 0.0, 0.5, 1.0]  # of mean 1/2; that of equally many points, ends included, is more
    curves = [curve("usual", name, seed, 1.0, 0.0) for name in ("pause", "random") for seed in (0, 1)]
    curves = [one.assign(accuracy=bowl) if (one["selector"] == "pause").all() else one for one in curves]
    (row,) = compare(pd.concat(curves, ignore_index=True)).to_dict("records")
    assert row["difference_over_time"] == pytest.approx(0.5, abs=1e-4)


def test_selectors_are_compared_when_the_first_of_two_runs_ends() -> None:
    curves = [
        *(curve("usual", "pause", seed, 1.0, 0.8 + 0.1 * seed) for seed in (0, 1)),
        *(curve("usual", "random", seed, 2.0, 0.8) for seed in (0, 1)),
        *(curve("no_p", "pause", seed, 4.0, 0.8) for seed in (0, 1)),
    ]
    usual, without = compare(pd.concat(curves, ignore_index=True)).to_dict("records")
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
