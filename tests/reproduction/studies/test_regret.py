"""Regret is the sum of what the rounds lose, and the laws by which it grows are found again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.base import log_spaced
from pausefl.reproduction.studies.regret import N_KEPT, Regret, fits, growth, law_value, run
from pausefl.settings import Scenario

Floats = NDArray[np.float64]
N = 100_000
T = log_spaced(N, N_KEPT).astype(float)


def runs_of(*regrets: Floats, selector: str = "pause") -> pd.DataFrame:
    """A table of runs with the regret of the kept rounds, one seed each."""
    columns = {"selector": selector, "round": T}
    return pd.concat([pd.DataFrame({**columns, "seed": i, "regret": r}) for i, r in enumerate(regrets)])


def preferred(table: pd.DataFrame, seed: str = "mean") -> pd.Series:
    """The preferred law's row of the only selector."""
    (row,) = table[table["preferred"] & (table["seed"] == seed)].index
    return table.loc[row]


def test_a_run_keeps_the_sum_of_the_rounds(demo: Scenario) -> None:
    table = run(demo, "random", 1, 400)
    rounds = selection_only(demo, "random", 1, genie=True).run(400).rounds
    assert rounds["pseudo_regret"].sum() > 0
    np.testing.assert_array_equal(table["round"], log_spaced(400, N_KEPT))
    for t, regret, elapsed in table.itertuples(index=False):
        assert regret == pytest.approx(rounds["pseudo_regret"][:t].sum())
        assert elapsed == rounds["elapsed_s"][t - 1]


def test_the_genie_loses_nothing_and_quantised_regret_is_near(demo: Scenario) -> None:
    exact, fine, coarse = (
        run(demo, "random", 1, 60, step)["regret"].to_numpy() for step in (None, 1e-6, 0.1)
    )
    np.testing.assert_allclose(fine, exact, atol=60 * 1e-6)
    np.testing.assert_allclose(coarse / 0.1, np.round(coarse / 0.1), atol=1e-9)
    assert not np.allclose(coarse, exact)
    assert run(demo, "genie", 1, 60, 0.1)["regret"].eq(0).all()


def test_a_selector_without_regret_is_refused(demo: Scenario) -> None:
    with pytest.raises(PauseflError, match="'fedavg' has no regret: it does not select 3 users"):
        run(demo, "fedavg", 0, 5)


def test_runs_are_one_table_whatever_computes_them(demo: Scenario) -> None:
    scenario = demo.replace(selectors=("random", "pause"))
    study = Regret(title="", scenario=scenario, seeds=(3, 2), n_rounds=20)
    tables = study.compute(lambda note: None)
    runs = tables["runs.parquet"]
    for (selector, seed), rows in runs.groupby(["selector", "seed"]):
        own = rows.drop(columns=["selector", "seed"]).reset_index(drop=True)
        pd.testing.assert_frame_equal(own, run(scenario, str(selector), seed, 20), check_exact=True)
    assert len(runs) == 2 * 2 * 20
    assert tables["growth.csv"]["selector"].unique().tolist() == ["random", "pause"]


@pytest.mark.parametrize(
    ("law", "a", "b"),
    [
        ("logarithmic", 5.0, 20.0),
        ("root", 30.0, 2.0),
        ("linear", 40.0, 0.3),
        ("power", 2.0, 0.7),
        ("power", 0.4, 1.4),
    ],
)
def test_a_law_is_found_again_in_noise_whatever_the_start(law: str, a: float, b: float) -> None:
    noise = np.random.default_rng(1).normal(1, 0.02, (2, len(T)))
    regrets = law_value(law, a, b, T) * noise
    table = fits(runs_of(*regrets))
    assert preferred(table)["law"] == law
    assert preferred(table, "1")["error"] == pytest.approx(0.02, rel=0.2)
    pd.testing.assert_frame_equal(fits(runs_of(*np.where(T < N / 100, 1.0, regrets))), table)


def test_no_regret_and_no_further_regret_are_constant() -> None:
    never, saturated = np.zeros(len(T)), np.minimum(T, 20.0)
    for regret, constant in ((never, 0.0), (saturated, 20.0)):
        row = preferred(fits(runs_of(regret)))
        assert (row["law"], row["b"]) == ("constant", 0)
        assert (row["a"], row["error"]) == pytest.approx((constant, 0), abs=1e-12)
    assert growth(runs_of(never))[["ratio", "exponent"]].isna().all(axis=None)
    assert growth(runs_of(saturated)).loc[0, "exponent"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("regret", "ratio", "before", "last"),
    [
        (np.log(T), np.log(N) / np.log(N / 10), 0.124, 0.097),  # 1 / ln t in the middle of the decade
        (np.sqrt(T), 10**0.5, 0.5, 0.5),
        (3.0 * T, 10, 1, 1),
    ],
)
def test_growth_assumes_no_law(regret: Floats, ratio: float, before: float, last: float) -> None:
    row = growth(runs_of(regret)).iloc[0]
    assert row["ratio"] == pytest.approx(ratio)
    assert (row["exponent_before"], row["exponent"]) == pytest.approx((before, last), abs=2e-3)
