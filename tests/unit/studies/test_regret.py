"""Regret is the sum of what the rounds lose, and the laws by which it grows are found again."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.settings import Scenario
from pausefl.studies.regret import (
    FIT_SPAN,
    LAWS,
    N_KEPT,
    Quantised,
    Regret,
    fits,
    growth,
    kept_rounds,
    law_value,
    run,
)

Floats = NDArray[np.float64]
N = 100_000
KEPT = kept_rounds(N)
GROWING = [
    ("logarithmic", 5.0, 20.0),
    ("root", 30.0, 2.0),
    ("linear", 40.0, 0.3),
    ("power", 2.0, 0.7),
    ("power", 0.4, 1.4),
]


def runs_of(*regrets: Floats, selector: str = "pause") -> pd.DataFrame:
    """A table of runs with the regret of the kept rounds, one seed each."""
    columns = {"selector": selector, "round": KEPT}
    return pd.concat([pd.DataFrame({**columns, "seed": i, "regret": r}) for i, r in enumerate(regrets)])


def preferred(table: pd.DataFrame, seed: str = "mean") -> pd.Series:
    """The preferred law's row of the only selector."""
    (row,) = table[table["preferred"] & (table["seed"] == seed)].index
    return table.loc[row]


@pytest.mark.parametrize("n_rounds", [1, 2, 50, 10_000, N])
def test_kept_rounds_are_few_with_both_ends(n_rounds: int) -> None:
    kept = kept_rounds(n_rounds)
    assert (kept[0], kept[-1]) == (1, n_rounds)
    assert (np.diff(kept) > 0).all()
    assert len(kept) <= N_KEPT
    powers = 10 ** np.arange(int(np.log10(n_rounds)) + 1)
    assert set(powers[:: max(1, len(powers) - 1)]) <= set(kept)
    late = kept[kept >= 100]
    assert (late[1:] / late[:-1] < 1.06).all()


def test_a_run_keeps_the_sum_of_the_rounds(demo: Scenario) -> None:
    table = run(demo, "random", 1, 400)
    rounds = selection_only(demo, "random", 1, genie=True).run(400).rounds
    assert rounds["pseudo_regret"].sum() > 0
    np.testing.assert_array_equal(table["round"], kept_rounds(400))
    for t, regret, elapsed in table.itertuples(index=False):
        assert regret == pytest.approx(rounds["pseudo_regret"][:t].sum())
        assert elapsed == rounds["elapsed_s"][t - 1]


def test_quantised_regret_is_that_of_rewards_rounded_down(demo: Scenario) -> None:
    exact, fine, coarse = (run(demo, "random", 1, 60, step) for step in (None, 1e-6, 0.1))
    n = len(exact)
    np.testing.assert_allclose(fine["regret"], exact["regret"], atol=60 * 1e-6)
    steps = coarse["regret"].to_numpy() / 0.1
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert 0 < np.abs(coarse["regret"] - exact["regret"]).max() < 0.1 * exact["round"].iloc[-1]
    assert run(demo, "genie", 1, 60, 0.1)["regret"].tolist() == [0.0] * n


@pytest.mark.parametrize(
    ("ours", "lost", "steps"), [(0.95, 0.1, 1), (1.05, 0.9, 0), (-0.05, 1.1, 2), (0.5, 0, 0)]
)
def test_rewards_are_rounded_down_one_by_one(
    ours: float, lost: float, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of rewards with a step of 0.5 each, from ``ours`` to ``ours + lost`` halves."""
    exact: Any = SimpleNamespace(
        speeds=np.ones(3),
        reward=SimpleNamespace(value=lambda history, users, speeds: 0.5 * ours),
        of=lambda users, history: 0.5 * lost,
    )
    history: Any = None
    assert Quantised(exact, 0.5).of(np.arange(2), history) == 0.5 * steps


def test_a_selector_without_regret_is_refused(demo: Scenario) -> None:
    with pytest.raises(PauseflError, match="'fedavg' has no regret: it does not select 3 users"):
        run(demo, "fedavg", 0, 5)


def test_runs_are_one_table_whatever_computes_them(demo: Scenario) -> None:
    scenario = demo.replace(selectors=("random", "pause"))
    study = Regret(title="", scenario=scenario, seeds=(3, 2), n_rounds=20)
    told: list[str] = []
    tables = study.compute(told.append)
    keys = [("pause", 2), ("pause", 3), ("random", 2), ("random", 3)]
    assert told == [f"{selector}, seed {seed}" for selector, seed in keys]
    runs = tables["runs.parquet"]
    own = [rows.drop(columns=["selector", "seed"]) for _, rows in runs.groupby(["selector", "seed"])]
    for key, rows in zip(keys, own, strict=True):
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), run(scenario, *key, 20), check_exact=True)
    pd.testing.assert_frame_equal(study.compute(told.append, 2)["runs.parquet"], runs, check_exact=True)
    drawn = study.plot(tables).tables["regret.csv"]
    assert drawn["selector"].unique().tolist() == ["random", "pause"]


def test_the_laws_by_hand() -> None:
    values = {
        "constant": 2,
        "logarithmic": 2 + 3 * math.log(100),
        "root": 2 + 3 * math.sqrt(100 * math.log(100)),
    }
    values |= {"linear": 2 + 3 * 100, "power": 2 * 100**3}
    assert {law: float(law_value(law, 2, 3, np.array(100.0))) for law in LAWS} == pytest.approx(values)


@pytest.mark.parametrize(("law", "a", "b"), GROWING)
def test_a_law_is_found_again_in_noise(law: str, a: float, b: float) -> None:
    noise = np.random.default_rng(1).normal(1, 0.02, (2, len(KEPT)))
    table = fits(runs_of(*law_value(law, a, b, KEPT.astype(float)) * noise))
    assert preferred(table)["law"] == law
    assert preferred(table, "1")["error"] == pytest.approx(0.02, rel=0.2)


def test_the_start_does_not_count() -> None:
    regret = 0.5 * KEPT + 10.0
    start = np.where(KEPT < N / FIT_SPAN, np.minimum(regret, 30.0), regret)
    pd.testing.assert_frame_equal(fits(runs_of(start)), fits(runs_of(regret)))


def test_no_regret_and_no_further_regret_are_constant() -> None:
    never, saturated = np.zeros(len(KEPT)), np.minimum(KEPT, 20.0)
    for regret, constant in ((never, 0.0), (saturated, 20.0)):
        row = preferred(fits(runs_of(regret)))
        assert (row["law"], row["b"]) == ("constant", 0)
        assert (row["a"], row["error"]) == pytest.approx((constant, 0), abs=1e-12)
    assert growth(runs_of(never))[["ratio", "exponent"]].isna().all(axis=None)
    assert growth(runs_of(saturated)).loc[0, "ratio"] == 1
    assert growth(runs_of(saturated)).loc[0, "exponent"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("regret", "ratio", "before", "last"),
    [
        (np.log(KEPT), np.log(N) / np.log(N / 10), 0.124, 0.097),  # 1 / ln t in the middle of the decade
        (np.sqrt(KEPT), 10**0.5, 0.5, 0.5),
        (3.0 * KEPT, 10, 1, 1),
    ],
)
def test_growth_assumes_no_law(regret: Floats, ratio: float, before: float, last: float) -> None:
    row = growth(runs_of(regret)).iloc[0]
    assert row["ratio"] == pytest.approx(ratio)
    assert (row["exponent_before"], row["exponent"]) == pytest.approx((before, last), abs=2e-3)


def test_tables_have_every_seed_and_their_mean_by_selector() -> None:
    t = KEPT.astype(float)
    runs = pd.concat([runs_of(t, 3 * t, selector="random"), runs_of(np.log(t) + 1)])
    assert growth(runs)[["selector", "seed"]].to_numpy().tolist() == [
        ["random", "0"],
        ["random", "1"],
        ["random", "mean"],
        ["pause", "0"],
        ["pause", "mean"],
    ]
    np.testing.assert_allclose(growth(runs)["regret"][:3], [N, 3 * N, 2 * N])
    linear = fits(runs).query("selector == 'random' and law == 'linear'")
    np.testing.assert_allclose(linear["b"], [1, 3, 2])
    assert (fits(runs).groupby(["selector", "seed"])["preferred"].sum() == 1).all()
