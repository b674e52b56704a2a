"""Annealers are compared on the same instances with equal budgets, and their wins are counted right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pausefl.analysis.intervals import wilson
from pausefl.reproduction.searches.listing import walk
from pausefl.reproduction.studies.comparison import (
    BUDGETS,
    CELL,
    TIE,
    Comparison,
    annealers,
    drawn,
    from_game,
    optimum_of,
    shares,
)
from pausefl.selectors.sa_pause import Annealer
from pausefl.settings import Scenario
from pausefl.streams import Streams


def note(line: str) -> None:
    pass


@pytest.fixture(scope="module")
def one_size(demo: Scenario) -> Comparison:
    scenario = demo.replace(selectors=("sa_pause", "sa_vanilla"))
    return Comparison(
        title="", scenario=scenario, n_instances=4, n_iterations=50, temperature_divisors=(1.0, 100.0)
    )


@pytest.fixture(scope="module")
def races(demo: Scenario) -> Comparison:
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
def raced(races: Comparison) -> pd.DataFrame:
    return races.compute(note)["races.parquet"]


def test_every_size_has_all_races_and_they_can_be_repeated(races: Comparison, raced: pd.DataFrame) -> None:
    assert set(zip(raced["n_users"], raced["n_selected"], strict=True)) == {(6, 2), (12, 2), (12, 6)}
    assert raced.groupby(list(CELL)).size().eq(3).all()
    assert len(raced) == 3 * 2 * 2 * 2 * 3
    for name in ("", "_iterations", "_neighbours"):
        assert (raced[f"final{name}"] <= raced[f"best{name}"] + TIE).all()
        assert (raced[f"best{name}"] <= raced["optimum"] + TIE).all()
    optima = raced.groupby(["source", "n_users", "n_selected", "instance"])["optimum"]
    assert optima.nunique().eq(1).all()  # at every temperature
    assert optima.first().nunique() == len(optima)
    pd.testing.assert_frame_equal(races.compute(note)["races.parquet"], raced)


def test_each_annealer_searches_the_instance_as_in_its_job(one_size: Comparison) -> None:
    tables = one_size.compute(note)
    runs = tables["runs.parquet"].set_index(["instance", "temperature_divisor", "selector"])
    for (seed, divisor, name), row in runs.iterrows():
        settings = one_size.scenario.selection.replace(n_iterations=50, temperature_divisor=divisor)
        selector = one_size.scenario.replace(selection=settings).make_selector(name)
        assert isinstance(selector, Annealer)
        pair = (selector, selector)
        history, at = from_game(one_size.scenario, pair, seed)
        energies = np.empty(50)
        stream = Streams(seed).generator(f"select/{name}", round=history.round)
        best = selector.anneal(at.objective, history, history.candidates(), stream, energies=energies)
        assert (row["round"], row["final"]) == (history.round, energies[-1])
        assert row["best"] == pytest.approx(at.objective.value(best))
        assert row["final"] <= row["best"] + TIE <= row["optimum"] + 2 * TIE
    last = tables["curves.csv"].groupby(["temperature_divisor", "selector"])["median"].last()
    gaps = (runs["optimum"] - runs["final"]).groupby(["temperature_divisor", "selector"]).median()
    pd.testing.assert_series_equal(last, gaps, check_names=False)


def test_the_gap_of_drawn_instances_bounds_all_energies(demo: Scenario) -> None:
    for names in (("alsa", "sa_bsfl"), ("sa_pause", "sa_vanilla")):
        first, other = annealers(demo.replace(selectors=names), 40).values()
        for seed in range(5):
            at = drawn(12, 3, (first, other), seed)
            found = walk(at.objective, (), 1e9, 500, np.random.default_rng(seed)).energies
            assert np.ptp(found) < at.gaps[0] == at.gaps[1]
            assert found.max() <= optimum_of(at.objective) + TIE


RACES = pd.DataFrame(
    {
        "source": "drawn",
        "n_users": [10, 10, 20, 20],
        "n_selected": 2,
        "temperature_divisor": 30.0,
        "moves": "all",
        "selector": "alsa",
        "other": "sa_bsfl",
        "optimum": 10.0,
        "final": 3.0,
        "best": 5.0,
        "final_iterations": [1.0, 4.0, 3.0, 1.0],
        "best_iterations": [5.0, 5.0, 5.0 + 1e-12, 6.0],
        "final_neighbours": [1.0, 1.0, 1.0, 4.0],
        "best_neighbours": 1.0,
        "n_listed": 4.0,
        "n_listed_other": [8.0, 10.0, 10.0, 12.0],
    }
)


def test_wins_ties_and_losses_are_counted_for_each_reading() -> None:
    by_size = shares(RACES, CELL, tuple(BUDGETS)).set_index(["n_users", "budget", "energy"])
    pooled = shares(RACES, ("source", "moves"), tuple(BUDGETS)).set_index(["budget", "energy"])
    counts = ["n_instances", "n_won", "n_tied", "n_lost"]
    assert by_size.loc[(10, "iterations", "final"), counts].tolist() == [2, 1, 0, 1]
    assert by_size.loc[(20, "iterations", "best"), counts].tolist() == [2, 0, 1, 1]
    assert pooled.loc[("iterations", "final"), counts].tolist() == [4, 2, 1, 1]
    assert pooled.loc[("neighbours", "best"), counts].tolist() == [4, 4, 0, 0]
    row = pooled.loc[("neighbours", "final")]
    assert (row["share"], row["low"], row["high"]) == (0.75, *wilson(3, 4))
    assert (row["gap"], row["gap_other"], row["n_listed_other"]) == pytest.approx((7, 8.25, 10))
