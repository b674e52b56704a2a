"""Comparison are paired and counted right."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from pausefl.errors import PauseflError
from pausefl.results.intervals import wilson
from pausefl.selectors import make_selector
from pausefl.selectors.annealing import Annealer
from pausefl.selectors.exact import pivot_and_fill
from pausefl.settings import Scenario
from pausefl.studies import comparison
from pausefl.studies.comparison import Comparison


@pytest.fixture
def study(demo: Scenario) -> Comparison:
    scenario = demo.replace(selectors=("sa_pause", "sa_vanilla"))
    return Comparison(
        title="", scenario=scenario, n_instances=4, n_iterations=50, temperature_divisors=(1.0, 100.0)
    )


def synthetic(first: list[float], second: list[float]) -> pd.DataFrame:
    """Runs whose final energies are given, with the same best energies in reverse."""
    runs = pd.DataFrame(
        {
            "instance": [*range(len(first))] * 2,
            "selector": ["alsa"] * len(first) + ["sa_bsfl"] * len(second),
            "final": first + second,
            "best": first[::-1] + second,
        }
    )
    return runs.assign(temperature_divisor=30.0, optimum=10.0)


def test_wins_ties_and_losses_are_counted_apart() -> None:
    rounding = 1e-12
    runs = synthetic([3, 2 + rounding, 2, 1, 5], [1, 2, 2 + rounding, 2, 2])
    shares = comparison.shares(comparison.paired(runs)).set_index("energy")
    final, best = shares.loc["final"], shares.loc["best"]
    assert final[["n_instances", "n_won", "n_tied", "n_lost", "share"]].tolist() == [5, 2, 2, 1, 0.4]
    assert best[["n_won", "n_tied", "n_lost"]].tolist() == [2, 2, 1]
    assert (final["gap"], final["gap_other"]) == pytest.approx((10 - 13 / 5, 10 - 9 / 5))
    assert (final["low"], final["high"]) == wilson(2, 5)
    text = comparison.to_markdown(shares.reset_index())
    (row,) = [line for line in text.splitlines() if "last vertex" in line]
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells == ["30", "last vertex", "40.0", "11.8 to 76.9", "40.0", "7.400", "8.200"]


def test_runs_are_matched_by_instance_not_by_order() -> None:
    runs = synthetic([3, 2, 1], [1, 1, 5])
    shuffled = pd.concat([runs.iloc[:3], runs.iloc[[5, 3, 4]]])
    found, wanted = (comparison.shares(comparison.paired(one)) for one in (shuffled, runs))
    pd.testing.assert_frame_equal(found, wanted)


def test_curves_summarise_the_gaps() -> None:
    gaps = {
        (1.0, "alsa"): np.array([[1.0, 0.0], [2.0, 2.0], [6.0, 1.0]]),
        (1.0, "sa_bsfl"): np.array([[2.0, 0.0], [1.0, 3.0], [7.0, 2.0]]),
    }
    curves = comparison.curves(gaps, np.array([1, 50])).set_index(["selector", "iteration"])
    assert curves.loc[("alsa", 1), ["mean", "median", "example"]].tolist() == [3, 2, 1]
    assert curves.loc[("alsa", 1), ["low", "high"]].tolist() == pytest.approx([1.2, 5.2])
    assert curves["ahead"].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0])  # the tie is nobody's


def test_kept_iterations_have_both_ends() -> None:
    kept = comparison.kept_iterations(3000)
    assert (kept[0], kept[-1]) == (1, 3000)
    assert len(kept) <= comparison.N_KEPT
    assert comparison.kept_iterations(1).tolist() == [1]


def test_both_annealers_get_the_same_instance(study: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[tuple[Any, ...]] = []
    anneal = Annealer.anneal

    def spy(self: Annealer, objective: Any, history: Any, users: Any, rng: Any, **options: Any) -> Any:
        state = rng.bit_generator.state["state"]["key"].tolist()
        met.append((id(objective), history.round, type(self).__name__, state))
        return anneal(self, objective, history, users, rng, **options)

    made = {
        divisor: comparison.annealers(study.scenario, 50, divisor) for divisor in study.temperature_divisors
    }
    monkeypatch.setattr(Annealer, "anneal", spy)
    monkeypatch.setattr(comparison, "annealers", lambda scenario, n, divisor: made[divisor])
    study.compute(print)
    assert len(met) == 4 * 2 * 2
    for first in range(0, len(met), 4):
        instance = met[first : first + 4]
        assert len({(objective, t) for objective, t, *_ in instance}) == 1
        assert [name for *_, name, _ in instance] == ["SaPause", "SaVanilla"] * 2
        streams = [stream for *_, stream in instance]
        assert streams[:2] == streams[2:]  # the same for both divisors
        assert streams[0] != streams[1]


def test_the_optimum_is_reached_in_the_first_iteration_that_has_it(
    study: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {
        divisor: comparison.annealers(study.scenario, 50, divisor) for divisor in study.temperature_divisors
    }

    def anneal(self: Annealer, objective: Any, *given: Any, energies: Any) -> Any:
        best = pivot_and_fill(objective, np.random.default_rng(0))
        energies[:] = objective.value(best) - 1.0
        if type(self).__name__ == "SaPause":
            energies[[6, 9]] += 1.0
        return best

    monkeypatch.setattr(Annealer, "anneal", anneal)
    monkeypatch.setattr(comparison, "annealers", lambda scenario, n, divisor: made[divisor])
    runs = study.compute(print)["runs.parquet"]
    assert (runs["reached"][runs["selector"] == "sa_pause"] == 7).all()
    assert runs["reached"][runs["selector"] == "sa_vanilla"].isna().all()


def test_energies_are_bounded_and_reproducible(study: Comparison) -> None:
    tables = study.compute(print)
    runs, curves = tables["runs.parquet"], tables["curves.csv"]
    assert runs.groupby("instance")[["optimum", "round"]].nunique().eq(1).all(axis=None)
    assert (runs["final"] <= runs["best"] + comparison.TIE).all()
    assert (runs["best"] <= runs["optimum"] + comparison.TIE).all()
    assert (curves["low"] >= -comparison.TIE).all()
    last = curves[curves["iteration"] == study.n_iterations].set_index(["temperature_divisor", "selector"])
    gap = (runs["optimum"] - runs["final"]).groupby([runs["temperature_divisor"], runs["selector"]]).mean()
    pd.testing.assert_series_equal(last["mean"], gap, check_names=False)
    for name, again in study.compute(print).items():
        pd.testing.assert_frame_equal(tables[name], again)


def test_an_instance_is_a_round_after_the_start_up(demo: Scenario) -> None:
    annealer = cast(Annealer, make_selector("sa_pause", demo))
    histories = [comparison.instance(demo, annealer, seed)[0] for seed in range(20)]
    first = demo.network.n_users // demo.network.n_selected + 1
    rounds = [history.round for history in histories]
    assert first <= min(rounds) <= max(rounds) <= demo.training.n_rounds
    assert len(set(rounds)) > 5
    for history in histories:
        assert history.participations.min() > 0
        assert history.participations.sum() == (history.round - 1) * demo.network.n_selected


def test_a_scenario_of_start_up_only_is_refused(demo: Scenario) -> None:
    short = demo.replace(training=demo.training.replace(n_rounds=4))
    with pytest.raises(PauseflError, match="ends after round 4, and searches from round 5 on"):
        comparison.instance(short, cast(Annealer, make_selector("sa_pause", short)), 0)


def test_annealers_of_different_objectives_are_not_compared(study: Comparison) -> None:
    unlike = study.scenario.replace(selectors=("sa_pause", "alsa"))
    with pytest.raises(PauseflError, match="sa_pause and alsa cannot be compared"):
        comparison.annealers(unlike, 50)
