"""The answers that open the report are those of claims and of the authors' logs; sentences follow them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from worlds import write_run

from pausefl.reproduction.claims.load import load_claims
from pausefl.reproduction.claims.records import Records
from pausefl.reproduction.claims.verdicts import judge_claims
from pausefl.reproduction.report import questions
from pausefl.reproduction.report.questions import answers, sentences, to_markdown
from pausefl.reproduction.studies import Studies
from pausefl.runs.run import KEY, runs_of
from pausefl.runs.run_id import RunId
from pausefl.settings import load_scenario

ROOT = Path(__file__).parents[3]
AS_WRITTEN, AS_RUN = "as written", "as run"
LOGS = questions.logs(questions.logged(ROOT / "config/scenarios"))


def run(scenario: str, selector: str, seed: int, latency: float, top: float, n: int = 40) -> pd.DataFrame:
    """A run of equal rounds whose accuracy rises to ``top`` in half of them."""
    accuracy = top * np.minimum(1, np.arange(1, n + 1) / (n / 2))
    return pd.DataFrame(
        {
            "scenario": scenario,
            "selector": selector,
            "seed": seed,
            "round": np.arange(1, n + 1),
            "elapsed_s": latency * np.arange(1, n + 1),
            "leakage_max": np.inf if selector == "fedavg_no_privacy" else 0.1 * np.arange(1, n + 1),
            "accuracy": accuracy,
            "loss": 1 - accuracy,
        }
    )


def rounds(scenario: str, pause: float = 0.5, annealer: str = "sa_pause", top: float = 0.8) -> pd.DataFrame:
    runs = [
        run(scenario, selector, seed, latency * (1 + 0.01 * seed), best)
        for seed in (0, 1)
        for selector, latency, best in (
            ("pause", pause, top),
            (annealer, 0.8, 0.8),
            ("random", 1.0, 0.8),
            ("fedavg_no_privacy", 1.2, 0.9),
        )
    ]
    return pd.concat(runs, ignore_index=True)


def found(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    return {(row["question"], row["source"]): row["value"] for _, row in table.iterrows()}


def test_answers_are_gaps_between_runs_of_one_seed() -> None:
    table = answers({"mnist_large_iid_r1": rounds("mnist_large_iid_r1")}, {}, LOGS)
    values = found(table)
    assert values["round", AS_WRITTEN] == pytest.approx(0.5)
    assert values["time", AS_WRITTEN] == pytest.approx(0.5)
    assert values["annealing", AS_WRITTEN] == pytest.approx(1.6)
    assert values["budget", AS_WRITTEN] == pytest.approx(2.0)  # twice as many rounds in the same time
    assert ("round", AS_RUN) not in values
    assert set(table["n_seeds"][table["source"] == AS_WRITTEN]) == {0, 2}


def test_what_its_interval_leaves_open_is_told_as_open() -> None:
    table = answers({"mnist_large_iid_r1": rounds("mnist_large_iid_r1")}, {}, LOGS)
    told = "\n".join(sentences(table))
    assert "PAUSE is faster than random selection" in told
    assert "In equal time PAUSE spends more than random selection" in told
    assert "the rounds of SA-PAUSE as printed last 1.60 times PAUSE's" in told
    told = "\n".join(sentences(table.assign(low=0.9, high=1.1)))
    assert "It is open whether PAUSE is faster than random selection" in told
    assert "It is open whether PAUSE spends less in equal time than random selection" in told


def test_longer_runs_answer_for_the_reading_of_their_study() -> None:
    keys = [("usual", "pause", 0), (questions.N_ROUNDS, "pause", 0), (questions.N_ROUNDS, "pause", 1)]
    keys.append((questions.N_ROUNDS, "random", 0))
    ends = [
        pd.DataFrame({"knob": knob, "selector": selector, "seed": seed, "accuracy": [0.8, 0.1 * (n + 1)]})
        for n, (knob, selector, seed) in enumerate(keys)
    ]
    table = answers({}, {"mnist_long_as_run": pd.concat(ends)}, {})
    (row,) = table[table["question"] == "long"].to_dict("records")
    assert (row["source"], row["n_seeds"]) == (AS_RUN, 2)
    assert row["value"] == pytest.approx((20 + 30) / 2)


def test_where_a_seed_misses_the_target_its_end_counts() -> None:
    own = rounds("mnist_large_iid_r1")
    worst = (own["selector"] == "pause") & (own["seed"] == 1)
    own.loc[worst, "accuracy"] *= 0.5
    own.attrs["target_accuracy"] = 0.7
    table = answers({"mnist_large_iid_r1": own}, {}, LOGS)
    times = table[(table["question"] == "time") & (table["source"] == AS_WRITTEN)].iloc[0]
    # PAUSE's run of seed 1 ends after 20.2 s; random selection reaches 70 %, smoothed, in round 23.
    assert times["value"] == pytest.approx((0.5 * 20.2 / (23 * 1.01)) ** 0.5)
    assert f"| at least {times['value']:.2f} times |" in to_markdown(table)
    assert "It is open whether PAUSE is faster than random selection: " in sentences(table)[1]
    own.loc[own["selector"] == "pause", "accuracy"] *= 0.5
    table = answers({"mnist_large_iid_r1": own}, {}, LOGS)
    assert "| not reached |" in to_markdown(table)
    assert not [sentence for sentence in sentences(table) if "nan" in sentence]


@pytest.mark.usefixtures("made_up_runs")
def test_the_answers_are_those_of_the_claims(tmp_path: Path) -> None:
    """The same runs, judged as claims: C3, C5b, C14 and C15."""
    name = "mnist_large_iid_r1"
    own = rounds(name).assign(
        selection=[np.array([0, 1])] * 320,
        latency_s=1.0,
        leakage_mean=0.1,
        reward=0.0,
        pseudo_regret=np.nan,
        train_loss=1.0,
    )
    for selector, seed, run in runs_of(own):
        write_run(tmp_path / "runs", RunId(name, selector, seed), run.drop(columns=KEY))
    scenario = load_scenario(name, ROOT / "config/scenarios")
    jobs = [RunId(name, selector, seed) for selector in own["selector"].unique() for seed in (0, 1)]
    records = Records({name: scenario}, jobs, Studies(), tmp_path / "runs", tmp_path)
    claims = load_claims(ROOT / "config/claims.yaml", ROOT / "config/scenarios")
    judged = {
        (one.question, round(one.gap, 9)) for each in judge_claims(claims, records, "paper", partial=True)
        for one in each.comparisons
        if one.where == name and one.gap is not None and np.isfinite(one.gap)
    }  # fmt: skip
    values = found(answers({name: own}, {}, LOGS))
    gaps = {gap for _, gap in judged}
    for question in ("time", "annealing", "budget", "mnist"):
        assert round(values[question, AS_WRITTEN], 9) in gaps, (question, sorted(judged))
