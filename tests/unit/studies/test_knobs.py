"""One setting is changed at a time, and what is measured is what the rounds say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pausefl.bandit.latency import mean_latencies
from pausefl.errors import ConfigError
from pausefl.federated.untrained import selection_only
from pausefl.privacy import make_schedule
from pausefl.results import fairness
from pausefl.settings import Scenario
from pausefl.studies import changes, study_of
from pausefl.studies.changes import Changes, Knob


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
    assert fairness.jain(np.full(7, 3.0)) == pytest.approx(1)
    assert fairness.jain(np.array([0.0, 5, 0, 0])) == pytest.approx(0.25)
    assert fairness.jain(np.array([1.0, 2, 3])) == pytest.approx(36 / 42)
    assert fairness.jain(np.zeros(3)) == 1


def test_measures_are_those_of_the_rounds(study: Changes) -> None:
    scenario = study.scenario
    found = changes.measure(scenario, "pause", 1)
    rounds = selection_only(scenario, "pause", 1).run(20).rounds
    latency, n_users = mean_latencies(scenario.network), scenario.network.n_users
    users = np.concatenate(list(rounds["selection"]))
    assert scenario.privacy is not None
    spent = make_schedule(scenario.privacy).spent(np.bincount(users, minlength=n_users))
    assert found["elapsed_s"] == rounds["latency_s"].sum() == pytest.approx(rounds["elapsed_s"].iloc[-1])
    assert (found["leakage_max"], found["leakage_mean"]) == pytest.approx((spent.max(), spent.mean()))
    assert found["fairness"] == pytest.approx(spent.sum() ** 2 / n_users / (spent**2).sum())
    assert found["slow_share"] == pytest.approx((users >= n_users // 2).mean())
    spreads = [latency[list(one)].max() - latency[list(one)].min() for one in rounds["selection"]]
    assert found["spread_s"] == pytest.approx(np.mean(spreads))


def test_every_change_has_all_runs_and_is_made_alone(study: Changes, runs: pd.DataFrame) -> None:
    made = ["usual", *["reward.alpha"] * 2, *["selection.n_iterations"] * 2, "privacy.decay", "variants"]
    assert len(runs) == len(made) * 2 * 2
    assert set(runs["knob"]) == set(made)
    changed = study.scenarios["reward.alpha", "500"]
    assert changed.changed == {"reward.alpha": study.scenario.reward.alpha}
    assert changed.scale == "own"
    assert study.usual(study.knobs[0]) == study.scenario.reward.alpha
    own = Knob(key="reward.alpha", values=(2,), besides={"reward.alpha": 7, "reward.beta": 3})
    assert study.usual(own) == 7
    assert study.replace(knobs=(own,)).scenarios["reward.alpha", "2"].reward.beta == 3


def test_a_setting_changes_what_it_concerns_and_nothing_else(runs: pd.DataFrame) -> None:
    table = runs.set_index(["knob", "value", "selector", "seed"]).sort_index()
    usual = table.loc["usual", "usual"]
    for value in ("1", "2"):
        tried = table.loc["selection.n_iterations", value]
        pd.testing.assert_frame_equal(tried.loc["pause"], usual.loc["pause"])
        assert not tried.loc["sa_pause"].equals(usual.loc["sa_pause"])
    assert not table.loc["reward.alpha", "500"].equals(usual)
    assert (table.loc["privacy.decay", "0.5"]["leakage_max"] > usual["leakage_max"]).all()


def test_a_summary_has_means_and_deviations_over_seeds(study: Changes, runs: pd.DataFrame) -> None:
    table = study.plot({"knobs.parquet": runs}).tables["summary.csv"].set_index(["knob", "value", "selector"])
    own = runs[(runs["knob"] == "variants") & (runs["selector"] == "pause")]
    row = table.loc[("variants", "no_p", "pause")]
    assert row["n_seeds"] == 2
    assert row["elapsed_s_mean"] == pytest.approx(own["elapsed_s"].mean())
    assert row["elapsed_s_sd"] == pytest.approx(own["elapsed_s"].std())


def test_changes_are_those_of_the_means_with_intervals_over_seeds() -> None:
    runs = pd.DataFrame(
        [
            {"knob": knob, "value": value, "selector": selector, "seed": seed}
            | dict.fromkeys(changes.METRICS, time + seed + noise * seed)
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
    usual = {"reward.alpha": "10", "reward.beta": "2"}
    table = changes.effects(runs, usual).set_index(["knob", "value", "selector", "metric"])
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


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("reward.alhpa", 1, "unknown key 'reward.alhpa'"),
        ("reward.beta", 0.9, "reward.beta = 0.9"),
        ("name", 1, "name cannot be changed"),
    ],
)
def test_a_change_that_is_wrong_is_said(study: Changes, key: str, value: float, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        study.replace(knobs=(Knob(key=key, values=(value,)),))


def test_trained_changes_have_scenarios_of_their_own(study: Changes) -> None:
    trained = Changes(
        title="",
        scenario=study.scenario.replace(selectors=("pause", "random")),
        seeds=(3, 4),
        knobs=(Knob(key="privacy.epsilon_total", values=(0.5, 100)),),
        variants={"no_p": {"reward.gamma": 0}},
        train=True,
    )
    usual, half, hundred, without = trained.scenarios.values()
    name = study.scenario.name
    assert usual.job_settings() == study.scenario.job_settings()
    assert [one.name for one in (half, hundred, without)] == [
        f"{name}_epsilon_total_0_5",
        f"{name}_epsilon_total_100",
        f"{name}_no_p",
    ]
    assert half.changed == {"privacy.epsilon_total": study.scenario.privacy.epsilon_total}  # type: ignore[union-attr]
    assert without.reward.gamma == 0
    both = [(selector, seed) for selector in ("pause", "random") for seed in (3, 4)]
    assert trained.runs[half.name] == trained.runs[usual.name] == both
    assert trained.runs[without.name] == both[:2]  # random selection ignores the reward
    again = study_of("changes", trained.settings())
    assert again.runs == trained.runs
