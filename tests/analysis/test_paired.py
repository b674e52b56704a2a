"""Selectors of any runs side by side, as claims have them."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import pausefl
from pausefl.analysis.groups import grouped
from pausefl.analysis.paired import side_by_side
from pausefl.analysis.statistics import holm_adjusted
from pausefl.errors import PauseflError
from pausefl.reproduction.pages.published import Published
from pausefl.runs.collected import runs_in
from pausefl.runs.run import selector_version

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results/published"


def selected(names: tuple[str, ...], n_seeds: int) -> list[pausefl.Run]:
    """Runs of 15 rounds without training."""
    scenario = pausefl.load_scenario("demo_small")
    return [
        pausefl.run(scenario, name, seed, n_rounds=15, train=False, progress=False)
        for name in names
        for seed in range(n_seeds)
    ]


def test_a_difference_is_that_of_a_paired_t_test() -> None:
    runs = selected(("random", "pause", "bsfl"), 4)
    table = pausefl.paired(runs, "mean_round_s", ratio=False).set_index(["selector", "against"])
    assert set(table["n_seeds"]) == {4}
    mean = {(run.selector, run.seed): run.rounds["latency_s"].mean() for run in runs}
    for (first, second), row in table.iterrows():
        ours, theirs = ([mean[name, seed] for seed in range(4)] for name in (first, second))
        test = stats.ttest_rel(ours, theirs)
        interval = test.confidence_interval()
        assert row["gap"] == pytest.approx(np.subtract(ours, theirs).mean())
        assert (row["low"], row["high"], row["p"]) == pytest.approx(
            (interval.low, interval.high, test.pvalue)
        )


def test_a_selector_of_ones_own_is_compared_though_its_code_is_not_at_hand() -> None:
    def first_ones(history: pausefl.History, rng: np.random.Generator) -> object:
        return history.candidates()[: history.n_selected]

    scenario = pausefl.load_scenario("demo_small")
    runs = [
        pausefl.run(scenario, selector, seed, n_rounds=15, train=False, progress=False)
        for selector in (first_ones, "pause")
        for seed in range(3)
    ]
    (row,) = pausefl.paired(runs, "mean_round_s").to_dict("records")
    assert (row["selector"], row["against"], row["n_seeds"]) == ("pause", "first_ones", 3)
    assert "PAUSE : first_ones" in side_by_side(runs)


class Lowest(pausefl.Selector):
    def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
        return history.candidates()[: history.n_selected]


class Highest(pausefl.Selector):
    def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
        return history.candidates()[-history.n_selected :]


def test_runs_of_two_versions_of_a_selector_are_not_averaged() -> None:
    scenario = pausefl.load_scenario("demo_small")
    versions = [
        pausefl.run(scenario, part, seed, n_rounds=15, train=False, progress=False, name="mine")
        for part, seed in ((Lowest, 0), (Lowest, 1), (Highest, 2))
    ]
    runs = [*selected(("random",), 3), *versions]
    with pytest.raises(PauseflError, match=r"seed 0, .* and .*seed 2, .* are of two versions of mine"):
        pausefl.paired(runs, "mean_round_s")
    assert len(pausefl.paired(runs[:-1], "mean_round_s")) == 1
    one, other = map(selector_version, versions[1:])
    found = {group.label: [run.seed for run in group.runs] for group in grouped(runs)}
    assert found == {"Random": [0, 1, 2], f"Mine, source {one}": [0, 1], f"Mine, source {other}": [2]}


def test_a_selector_without_a_source_of_its_own_has_no_versions() -> None:
    scenario = pausefl.load_scenario("demo_small")
    settings: Any = {"n_rounds": 3, "train": False, "progress": False, "name": "mine"}
    runs = [pausefl.run(scenario, lambda history, rng: history.candidates()[:3], 0, **settings)]
    runs += [pausefl.run(scenario, lambda history, rng: history.candidates()[:3], 1, **settings)]
    assert {selector_version(run) for run in runs} == {None}
    assert [len(group.runs) for group in grouped(runs)] == [2]


def test_the_picture_has_a_dot_a_seed_the_interval_and_a_line_at_no_difference() -> None:
    runs = selected(("random", "pause"), 3)
    for ratio, even in ((True, 1), (False, 0)):
        table = pausefl.paired(runs, "mean_round_s", ratio=ratio)
        (axes,) = table.plot().axes
        (dots, *_), (line, *_) = axes.collections, axes.lines
        mean = {(run.selector, run.seed): run.rounds["latency_s"].mean() for run in runs}
        pairs = [(mean["pause", seed], mean["random", seed]) for seed in range(3)]
        expected = [a / b if ratio else a - b for a, b in pairs]
        np.testing.assert_allclose(np.asarray(dots.get_offsets())[:, 0], expected)
        assert set(line.get_xdata()) == {even}
        ends = [
            np.asarray(one.get_segments())[0][:, 0]
            for one in axes.collections
            if hasattr(one, "get_segments")
        ]
        np.testing.assert_allclose(ends[0], table[["low", "high"]].to_numpy()[0])


def test_pairs_that_are_left_after_a_filter_are_drawn() -> None:
    table = pausefl.paired(selected(("random", "pause", "fastest"), 3), "mean_round_s")
    left = table[table["selector"] == "pause"].sort_values("gap").round(4)
    (axes,) = left.plot().axes
    assert len(axes.collections[0].get_offsets()) == 3 * len(left) < 9
    with pytest.raises(PauseflError, match="pairs without columns cannot be drawn: bound, high, low, unit"):
        table[["selector", "against", "gap"]].plot()


def test_runs_side_by_side_have_their_gaps_where_settings_are_the_same() -> None:
    scenario = pausefl.load_scenario("demo_small")
    runs = [
        pausefl.run(scenario, name, 0, n_rounds=9, train=False, progress=False)
        for name in ("pause", "random")
    ]
    head, columns, *rows = side_by_side(runs).splitlines()
    assert head == "Paired over seeds:"
    assert columns.split() == ["gap", "95", "%", "interval", "p", "(Holm)", "seeds"]
    assert [row.split("  ")[1] for row in rows] == [
        "Mean round (ratio)",
        "Largest budget spent when the shorter run ends (ratio)",
    ]
    other = pausefl.change(scenario, {"network.n_users": 20})
    runs.append(pausefl.run(other, "bsfl", 0, n_rounds=9, train=False, progress=False))
    assert side_by_side(runs) == ""


def test_it_is_what_claims_say(published: Published) -> None:
    runs = [one for one in runs_in(PUBLISHED / "mnist_large_iid_r1") if one.selector in ("pause", "random")]
    (row,) = pausefl.paired(runs, "seconds_to_target").to_dict("records")
    (claim,) = (one for one in published.judged if (one.claim.id, one.reading) == ("C3a", "as written"))
    (said,) = (
        one
        for one in claim.comparisons
        if (one.where, one.question) == ("mnist_large_iid_r1", "time to the target: PAUSE against Random")
    )
    assert (row["selector"], row["against"], row["n_seeds"]) == ("pause", "random", len(said.seeds))
    assert (row["gap"], row["low"], row["high"]) == pytest.approx((said.gap, said.low, said.high))


def test_holms_p_values_hold_in_common() -> None:
    p = [0.01, 0.04, float("nan"), 0.03]
    np.testing.assert_allclose(holm_adjusted(p), [0.03, 0.06, np.nan, 0.06])


def test_what_no_run_has_has_no_p_value() -> None:
    regression = pausefl.load_scenario("bsfl_linear_iid")
    runs = [
        pausefl.run(regression, name, seed, n_rounds=2, progress=False)
        for name, seed in product(("bsfl", "random"), (0, 1))
    ]
    (row,) = pausefl.paired(runs, "accuracy_in_time").to_dict("records")
    assert math.isnan(row["gap"])
    assert math.isnan(row["p"])


def test_who_leaks_without_bound_leaks_more_in_time_too() -> None:
    demo = pausefl.load_scenario("demo_small")
    runs = [
        pausefl.run(demo, name, seed, n_rounds=2, train=False, progress=False)
        for name, seed in product(("pause", "fedavg_no_privacy"), range(6))
    ]
    for metric in ("leakage_in_time", "leakage_over_time"):
        assert pausefl.paired(runs, metric)["p"].item() == pytest.approx(2 * 0.5**6)


def test_what_cannot_be_compared_is_refused() -> None:
    scenario = pausefl.load_scenario("demo_small")
    run = pausefl.run(scenario, "random", 0, n_rounds=3, train=False, progress=False)
    other = pausefl.change(scenario, {"network.n_users": 20})
    with pytest.raises(PauseflError, match="unknown metric 'accuracy'"):
        pausefl.paired([run], "accuracy")
    with pytest.raises(PauseflError, match="needs trained runs"):
        pausefl.paired([run], "accuracy_in_time")
    with pytest.raises(PauseflError, match=r"other settings than that of \w+, seed 0: network\.n_users"):
        pausefl.paired(
            [run, pausefl.run(other, "pause", 0, n_rounds=3, train=False, progress=False)], "mean_round_s"
        )
    with pytest.raises(PauseflError, match="no two selectors"):
        pausefl.paired([run], "mean_round_s")
    apart = pausefl.run(scenario, "pause", 1, n_rounds=3, train=False, progress=False)
    with pytest.raises(PauseflError, match="no pair has a gap to draw: selectors share no seed"):
        pausefl.paired([run, apart], "mean_round_s").plot()
    with pytest.raises(PauseflError, match="no runs are given"):
        pausefl.paired([], "mean_round_s")
    longer = pausefl.run(scenario, "pause", 1, n_rounds=4, train=False, progress=False)
    with pytest.raises(PauseflError, match=r"3 rounds\) and .* both pause, seed 1\. Name one"):
        pausefl.paired([run, apart, longer], "mean_round_s")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([["a"], ["b"]], r"runs\[0\] must be a run or its folder, not list. Give all runs in one list"),
        (None, "runs must be runs or their folders, not NoneType"),
    ],
)
def test_lists_of_lists_are_refused(given: Any, message: str) -> None:
    with pytest.raises(PauseflError, match=message):
        pausefl.paired(given, "mean_round_s")


def test_a_metric_is_a_text() -> None:
    with pytest.raises(PauseflError, match="metric must be a text, not NoneType"):
        pausefl.paired([], None)  # type: ignore[arg-type]


def test_runs_are_given_as_themselves_or_by_their_folders(tmp_path: Path) -> None:
    scenario, names = pausefl.load_scenario("demo_small"), ("pause", "random")
    runs = [pausefl.run(scenario, name, 0, n_rounds=3, train=False, progress=False) for name in names]
    folders = [tmp_path / run.selector for run in runs]
    for run, folder in zip(runs, folders, strict=True):
        run.save(folder)
    table = pausefl.paired(runs, "mean_round_s")
    assert pausefl.paired(folders, "mean_round_s").equals(table)
    assert pausefl.paired([runs[0], str(folders[1])], "mean_round_s").equals(table)
    assert pausefl.collect(folders[0]).equals(pausefl.collect(runs[:1]))
    collected = PUBLISHED / "mnist_large_iid_r2"
    assert len(pausefl.paired(collected, "mean_round_s")) == 15
    with pytest.raises(PauseflError, match="has the runs of a scenario: name one of them"):
        pausefl.read_run(collected)


def test_only_what_needs_expected_latencies_asks_for_them() -> None:
    """Under a drift there are none; rounds and leakage can be compared all the same."""
    keys = {"network.latency": "drift", "network.swap_round": 2}
    scenario = pausefl.change(pausefl.load_scenario("demo_small"), keys)
    names = ("pause", "random")
    runs = [pausefl.run(scenario, name, 0, n_rounds=3, train=False, progress=False) for name in names]
    assert len(pausefl.paired(runs, "mean_round_s")) == 1
    with pytest.raises(PauseflError, match="Drift has no expected latencies"):
        pausefl.paired(runs, "latency_spread")
