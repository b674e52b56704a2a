"""Annealers are compared on the same instances with equal budgets, and their wins are counted right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pausefl.errors import PauseflError
from pausefl.results.intervals import wilson
from pausefl.selectors.listing import Walk, walk
from pausefl.selectors.sa_pause import Annealer
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.studies.comparison import (
    BUDGETS,
    CELL,
    ENERGIES,
    TIE,
    Comparison,
    annealers,
    drawn,
    from_game,
    optimum_of,
    paired,
    race_of,
    shares,
)


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


def test_an_instance_is_a_round_after_the_start_up(demo: Scenario, one_size: Comparison) -> None:
    pair = tuple(annealers(one_size.scenario, 50).values())
    histories = [from_game(one_size.scenario, pair, seed)[0] for seed in range(20)]  # type: ignore[arg-type]
    rounds = [history.round for history in histories]
    first = demo.network.n_users // demo.network.n_selected + 1
    assert first <= min(rounds) <= max(rounds) <= demo.training.n_rounds
    assert len(set(rounds)) > 5
    for history in histories:
        assert history.participations.min() > 0
        assert history.participations.sum() == (history.round - 1) * demo.network.n_selected
    short = demo.replace(training=demo.training.replace(n_rounds=4))
    with pytest.raises(PauseflError, match="ends after round 4, and searches from round 5 on"):
        from_game(short, pair, 0)  # type: ignore[arg-type]


def test_annealers_of_different_objectives_are_not_compared(demo: Scenario) -> None:
    with pytest.raises(PauseflError, match="sa_pause and alsa cannot be compared"):
        annealers(demo.replace(selectors=("sa_pause", "alsa")), 50)


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


def test_the_other_stops_once_it_has_listed_as_many_neighbours(races: Comparison) -> None:
    at = drawn(6, 2, tuple(annealers(races.scenario, 9).values()), 0)  # type: ignore[arg-type]
    ours = Walk(np.array([1.0, 5.0, 2.0]), np.array([4, 3, 4]))
    theirs = Walk(np.array([0.0, 3.0, 4.0]), np.array([5, 5, 5]))
    race = race_of(at, ours, theirs)
    assert race["n_iterations_other"] == 2  # 10 of the 11 that ours listed
    read = [race[f"{energy}{other}"] for other in ("", "_iterations", "_neighbours") for energy in ENERGIES]
    assert read == [2, 5, 4, 4, 3, 3]
    assert (race["n_listed"], race["n_listed_other"]) == (pytest.approx(11 / 3), 5)


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


def test_the_figure_of_races_has_all_sizes_together(races: Comparison) -> None:
    plotted = races.plot({"shares.csv": shares(RACES, CELL, tuple(BUDGETS))})
    axes = plotted.figure.axes[0]  # equal iterations, last vertex: 2 of 4 won, 1 tied
    won, tied, lost = axes.patches
    parts = [(part.get_x(), part.get_width()) for part in (won, tied, lost)]
    np.testing.assert_allclose(parts, [(0, 50), (50, 25), (75, 25)])
    np.testing.assert_allclose(axes.lines[-1].get_xdata(), 100 * np.array(wilson(2, 4)))


def test_runs_are_matched_by_instance_not_by_order() -> None:
    runs = pd.DataFrame(
        {
            "instance": [0, 1, 2, 2, 0, 1],
            "temperature_divisor": 30.0,
            "selector": ["alsa"] * 3 + ["sa_bsfl"] * 3,
            "optimum": 10.0,
            "final": [3.0, 2.0, 1.0, 5.0, 1.0, 1.0],
            "best": 5.0,
        }
    )
    final, best = shares(paired(runs)).to_dict("records")
    assert (final["n_won"], final["n_lost"], best["n_tied"]) == (2, 1, 3)
