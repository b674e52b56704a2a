"""Races have equal budgets, and are counted right."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pausefl.results.intervals import wilson
from pausefl.selectors.listing import walk
from pausefl.settings import Scenario
from pausefl.studies import comparison
from pausefl.studies.comparison import ALL_SIZES, BUDGETS, CELL, TIE, Comparison


@pytest.fixture(scope="module")
def study(demo: Scenario) -> Comparison:
    return Comparison(
        title="",
        scenario=demo.replace(selectors=("alsa", "sa_bsfl")),
        n_users=(6, 12),
        n_selected=(2, 6),
        sources=("drawn", "games"),
        n_instances=3,
        n_iterations=40,
        temperature_divisors=(1.0, 100.0),
        moves=("all", "active"),
    )


@pytest.fixture(scope="module")
def raced(study: Comparison) -> pd.DataFrame:
    return study.compute(lambda note: None)["races.parquet"]


def test_every_size_has_all_races(raced: pd.DataFrame) -> None:
    assert set(zip(raced["n_users"], raced["n_selected"], strict=True)) == {(6, 2), (12, 2), (12, 6)}
    assert raced.groupby(list(CELL)).size().eq(3).all()
    assert len(raced) == 3 * 2 * 2 * 2 * 3


def test_energies_are_bounded_and_reproducible(study: Comparison, raced: pd.DataFrame) -> None:
    for name in ("", "_iterations", "_neighbours"):
        assert (raced[f"final{name}"] <= raced[f"best{name}"] + TIE).all()
        assert (raced[f"best{name}"] <= raced["optimum"] + TIE).all()
    assert (raced["best_neighbours"] <= raced["best_iterations"]).all()
    pd.testing.assert_frame_equal(study.compute(lambda note: None)["races.parquet"], raced)


def test_with_equal_listing_nobody_lists_more(study: Comparison, raced: pd.DataFrame) -> None:
    budget = raced["n_listed"] * study.n_iterations
    n = raced["n_iterations_other"]
    assert (n * raced["n_listed_other"] <= budget + TIE).all()
    assert ((n + 1) * raced["n_listed_other"] > budget).all()
    plain = raced["n_selected"] * (raced["n_users"] - raced["n_selected"])
    assert (raced["n_listed_other"] == plain).all()
    assert (raced["n_listed"] <= plain).all()
    large = raced[raced["n_selected"] == 6].set_index([*CELL, "instance"])["n_listed"].unstack("moves")
    assert (large["active"] < large["all"]).all()


def test_the_other_stops_where_its_budget_ends(
    study: Comparison, raced: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its energies at equal listing are those of the same walk, cut short."""
    walks = []

    def spy(*given: object, **options: object) -> object:
        walks.append(walk(*given, **options))  # type: ignore[arg-type]
        return walks[-1]

    monkeypatch.setattr("pausefl.selectors.listing.walk", spy)
    one = study.replace(n_users=(12,), n_selected=(2,), sources=("games",), n_instances=1, moves=("all",))
    first = one.compute(lambda note: None)["races.parquet"].iloc[0]
    other, ours = walks[:2]
    n = first["n_iterations_other"]
    assert 0 < n < study.n_iterations
    assert first["final_neighbours"] == other.energies[n - 1]
    assert first["best_neighbours"] == other.energies[:n].max()
    assert (first["final"], first["best"]) == (ours.energies[-1], ours.energies.max())
    assert other.n_listed[:n].sum() <= ours.n_listed.sum() < other.n_listed[: n + 1].sum()


def test_the_other_gets_no_better_after_its_budget(
    study: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lists 2 in each iteration, the first annealer 4 in all: two iterations of the other."""
    other = SimpleNamespace(energies=np.array([1.0, 2.0, 0.0, 4.0, 3.0]), n_listed=np.full(5, 2))
    ours = SimpleNamespace(energies=np.array([2.0, 5.0, 1.0, 1.0, 1.0]), n_listed=np.array([1, 1, 1, 1, 0]))
    walks = iter([other, ours])
    monkeypatch.setattr("pausefl.selectors.listing.walk", lambda *given: next(walks))
    one = study.replace(
        n_users=(6,),
        n_selected=(2,),
        sources=("drawn",),
        n_instances=1,
        temperature_divisors=(1.0,),
        moves=("all",),
    )
    (race,) = one.compute(lambda note: None)["races.parquet"].to_dict("records")
    assert (race["n_iterations_other"], race["best_neighbours"], race["final_neighbours"]) == (2, 2, 2)
    assert (race["best_iterations"], race["final_iterations"]) == (4, 3)
    assert (race["best"], race["final"]) == (5, 1)


def test_drawn_instances_are_the_same_for_every_temperature_and_differ_from_each_other(
    raced: pd.DataFrame,
) -> None:
    optima = raced.groupby(["source", "n_users", "n_selected", "instance"])["optimum"]
    assert optima.nunique().eq(1).all()
    assert optima.first().nunique() == len(optima)


def test_wins_ties_and_losses_are_counted_for_each_reading() -> None:
    table = pd.DataFrame(
        {
            "source": "drawn",
            "n_users": [10, 10, 20, 20],
            "n_selected": 2,
            "temperature_divisor": 30.0,
            "moves": "all",
            "selector": "alsa",
            "other": "sa_bsfl",
            "optimum": 10.0,
            "final": [3.0, 3.0, 3.0, 3.0],
            "best": [5.0, 5.0, 5.0, 5.0],
            "final_iterations": [1.0, 4.0, 3.0, 1.0],
            "best_iterations": [5.0, 5.0, 5.0 + 1e-12, 6.0],
            "final_neighbours": [1.0, 1.0, 1.0, 4.0],
            "best_neighbours": [1.0, 1.0, 1.0, 1.0],
            "n_listed": 4.0,
            "n_listed_other": [8.0, 10.0, 10.0, 12.0],
        }
    )
    by_size = comparison.shares(table, CELL, BUDGETS).set_index(["n_users", "budget", "energy"])
    pooled = comparison.shares(table, ALL_SIZES, BUDGETS).set_index(["budget", "energy"])
    counts = ["n_instances", "n_won", "n_tied", "n_lost"]
    assert by_size.loc[(10, "iterations", "final"), counts].tolist() == [2, 1, 0, 1]
    assert by_size.loc[(20, "iterations", "best"), counts].tolist() == [2, 0, 1, 1]
    assert pooled.loc[("iterations", "final"), counts].tolist() == [4, 2, 1, 1]
    assert pooled.loc[("neighbours", "best"), counts].tolist() == [4, 4, 0, 0]
    row = pooled.loc[("neighbours", "final")]
    assert (row["share"], row["low"], row["high"]) == (0.75, *wilson(3, 4))
    assert (row["gap"], row["gap_other"], row["n_listed_other"]) == pytest.approx((7, 8.25, 10))
    text = comparison.races_to_markdown(table)
    (line,) = [line for line in text.splitlines() if "equal listing | last vertex" in line]
    assert "| 75.0 (30.1 to 95.4) | 0.0 | 50.0 (9.5 to 90.5) | 7 | 7.5 |" in line


def test_the_gap_of_drawn_instances_bounds_all_energies(study: Comparison) -> None:
    for names in (("alsa", "sa_bsfl"), ("sa_pause", "sa_vanilla")):
        network = study.scenario.network.replace(n_users=12, n_selected=3)
        changed = study.scenario.replace(selectors=names, network=network)
        first, other = comparison.annealers(changed, 40).values()
        for seed in range(5):
            at = comparison.drawn(changed, (first, other), seed)
            found = walk(at.objective, (), 1e9, 500, np.random.default_rng(seed)).energies
            assert np.ptp(found) < at.gaps[0] == at.gaps[1]
