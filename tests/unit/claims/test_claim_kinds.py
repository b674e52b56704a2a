"""Each kind of test on runs and studies whose outcome is known."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from worlds import SCALE, World, on_runs, on_study

from pausefl.claims.base import ClaimTest
from pausefl.claims.comparisons import Comparison
from pausefl.claims.quantities import latency_spread
from pausefl.claims.records import Replicate
from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED, gaps, holm, judge, region
from pausefl.results.intervals import estimate
from pausefl.runs.collected import read_runs, run_folder, write
from pausefl.studies import regret
from pausefl.studies.comparison import Comparison as Race

RISING = [0.05 * i for i in range(1, 21)]


def found(world: World, test: ClaimTest) -> list[Comparison]:
    return list(test.compare(world.records(), SCALE))


def outcomes(world: World, test: ClaimTest) -> list[str]:
    return [each.outcome for each in found(world, test)]


def ordering(**keys: Any) -> ClaimTest:
    base = {"metric": "leakage_after_rounds", "gap": "ratio", "direction": "lower", "selectors": ("pause",)}
    base |= {"against": ("random",), "reason": "why not"}
    return on_runs("ordering", **{key: value for key, value in (base | keys).items() if value})


def test_an_interval_is_students() -> None:
    values = [1.0, 2.0, 4.0, 1.5]
    ours, theirs = estimate(values), stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert math.isnan(estimate([3.0]).low)


def test_outcomes_follow_the_whole_interval() -> None:
    below, near = region("lower", 1.0, "difference"), region("equal", 0.5, "difference")
    assert judge([-2.0, -2.1, -1.9], *below).outcome == HOLDS
    assert judge([-2.0, -9.0, -1.9], *below).outcome == UNDECIDED
    assert judge([2.0, 2.1, 1.9], *below).outcome == FAILS
    assert judge([0.1, 0.0, -0.1], *near).outcome == HOLDS
    assert judge([0.1, 0.9, -0.1], *near).outcome == UNDECIDED
    assert judge([0.9, 1.0, 1.1], *near).outcome == FAILS
    assert judge([0.4, 0.41, 0.42], *region("not lower", 0.5, "difference")).outcome == HOLDS
    assert judge([-0.4, -0.41, -0.42], *region("not lower", 0.5, "difference")).outcome == HOLDS
    assert judge([-0.6, -0.61, -0.62], *region("not lower", 0.5, "difference")).outcome == FAILS


def test_one_seed_shows_a_gap_and_decides_nothing() -> None:
    judged = judge([-2.0], *region("lower", 1.0, "difference"))
    assert (judged.outcome, judged.found.mean) == (UNDECIDED, -2.0)
    assert math.isnan(judged.p)


def test_p_is_below_5_percent_where_the_interval_clears_the_limit() -> None:
    rng = np.random.default_rng(0)
    for values in rng.normal(-0.3, 0.5, (200, 5)):
        judged, interval = judge(values, -math.inf, 0.0), estimate(values)
        assert (judged.outcome == HOLDS) == (interval.high < 0) == (judged.p < 0.05 and values.mean() < 0)
        either = stats.ttest_1samp(values, 0).pvalue
        assert judged.p == pytest.approx(either)
        near = judge(values, -0.5, 0.5)
        assert (near.outcome == HOLDS) == (interval.low > -0.5 and interval.high < 0.5)
        assert (near.outcome == FAILS) == (interval.high < -0.5 or interval.low > 0.5)


def test_holm_is_that_of_the_textbook() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [True, False, False, True]
    assert holm([0.02, 0.03]) == [True, True]
    assert holm([]) == []


def test_a_gap_that_is_only_bounded_is_tested_on_its_worse_bound() -> None:
    """The others needed more than 3 s, or exactly 3 s: the ratio is at most 1/3 in both cases."""
    ours, ended = [1.0, 1.1, 1.05], np.array([[3.0, math.inf], [3.0, 3.0], [3.0, math.inf]])
    judged = judge(gaps(ours, ended, "ratio"), *region("lower", 0.0, "ratio"))
    assert (judged.outcome, judged.bound) == (HOLDS, "at most")
    assert math.exp(judged.found.mean) == pytest.approx(np.prod(ours) ** (1 / 3) / 3)
    back = judge(gaps(ended, ours, "ratio"), *region("lower", 0.0, "ratio"))
    assert (back.outcome, back.bound) == (FAILS, "at least")


@pytest.mark.parametrize(("n", "outcome"), [(5, UNDECIDED), (6, HOLDS)])
def test_without_a_bound_signs_decide(n: int, outcome: str) -> None:
    faster = gaps(np.full(n, 1.0), np.full(n, math.inf), "ratio")
    assert judge(faster, *region("lower", 0.0, "ratio")).outcome == outcome
    both = gaps(np.full(n, math.inf), np.full(n, math.inf), "ratio")
    assert judge(both, *region("lower", 0.0, "ratio")).outcome == UNDECIDED


def test_an_ordering_is_of_pairs(world: World) -> None:
    for seed in range(3):  # seeds differ by far more than selectors do
        world.add("pause", seed, leakage=10.0**seed)
        world.add("random", seed, leakage=1.2 * 10.0**seed)
    world.add("pause", 3)  # a seed that the others were never to have
    (finding,) = found(world, ordering())
    assert finding.outcome == HOLDS
    assert finding.gap == pytest.approx(1 / 1.2)
    assert (finding.seeds, finding.n_missing, finding.note) == ((0, 1, 2), 0, "")
    assert finding.runs[0] == "s/pause/seed-0"
    assert len(finding.runs) == 6
    assert outcomes(world, ordering(margin=0.3)) == [FAILS]
    assert outcomes(world, ordering(direction="higher")) == [FAILS]
    assert outcomes(world, ordering(selectors=("random",), against=("pause",))) == [FAILS]


def test_a_seed_that_one_side_alone_is_to_have_is_not_missing(world: World) -> None:
    for seed in range(3):
        world.add("pause", seed, leakage=1.0 + seed)
    for seed in range(2):
        world.add("random", seed, leakage=2.0 + seed)
    (finding,) = found(world, ordering())
    assert (finding.seeds, finding.n_missing, finding.note) == ((0, 1), 0, "")


def test_collected_runs_are_judged_as_their_own_folders_are(world: World) -> None:
    for seed in range(3):
        world.add("pause", seed, leakage=1.0 + seed)
        world.add("random", seed, leakage=2.0 + seed)
    expected, runs, collected = found(world, ordering()), world.folder / "runs", world.folder / "collected"
    write(read_runs({one: run_folder(runs, one) for one in world.experiments}).values(), collected / "s")
    shutil.rmtree(runs)
    records = replace(world.records(), runs=collected)
    assert list(ordering().compare(records, SCALE)) == expected
    assert not records.missing


def test_an_ordering_between_scenarios(world: World) -> None:
    for seed in range(2):
        world.add("pause", seed, leakage=2.0)
        world.add("pause", seed, leakage=1.0, scenario="other")
    test = ordering(against=(), reference={SCALE: "other"}, direction="higher")
    (finding,) = found(world, test)
    assert (finding.outcome, finding.gap) == (HOLDS, pytest.approx(2.0))
    assert set(finding.runs) == {f"{name}/pause/seed-{seed}" for name in ("s", "other") for seed in (0, 1)}


def reach(world: World, selector: str, at: int, round_s: float = 1.0, seeds: int = 3) -> None:
    """Runs of 40 rounds whose smoothed accuracy rises in the ten rounds from ``at`` on."""
    for seed in range(seeds):
        accuracy = np.where(np.arange(40) >= at - 1, 0.6, 0.1 + 0.001 * seed)
        world.add(selector, seed, accuracy.tolist(), round_s=round_s)


TO_TARGET = {"metric": "seconds_to_target"}


def test_who_ends_before_the_target_is_slower_than_who_reached_it_by_then(world: World) -> None:
    reach(world, "pause", 10)
    reach(world, "random", 99, round_s=1.5)
    (one,) = found(world, ordering(**TO_TARGET))
    assert (one.outcome, one.bound) == (HOLDS, "at most")
    assert one.gap == pytest.approx(18 / 60)
    assert "Random ends before the target in 3 of 3 seeds" in one.note
    assert outcomes(world, ordering(selectors=("random",), against=("pause",), **TO_TARGET)) == [FAILS]


def test_a_common_time_is_the_end_of_the_shorter_run(world: World) -> None:
    world.add("bsfl", 0, RISING, round_s=0.5)
    world.add("cs_ucb", 0, RISING, round_s=1.0)
    test = ordering(
        metric="accuracy_in_time",
        gap="difference",
        direction="higher",
        selectors=("bsfl",),
        against=("cs_ucb",),
    )
    (finding,) = found(world, test)
    assert finding.gap == pytest.approx(100 * (np.mean(RISING[10:]) - np.mean(RISING[:10])))
    assert finding.seeds == (0,)
    assert math.isnan(finding.low)


def test_loss_over_time_tells_who_is_sooner_at_the_same_floor(world: World) -> None:
    """ln loss falls by 1 a round to a floor, in rounds of 1 s or of 2 s."""
    falling = np.exp(-np.minimum(np.arange(20), 4.0)).tolist()
    for seed in (0, 1):
        world.add("bsfl", seed, [0.5] * 20, round_s=1.0, loss=falling)
        world.add("random", seed, [0.5] * 20, round_s=2.0, loss=falling)
    keys = {"gap": "ratio", "direction": "lower", "selectors": ("bsfl",), "against": ("random",)}
    (over,) = found(world, ordering(metric="loss_over_time", **keys))
    # From 2 s on, when both have a loss, to 20 s: areas under ln loss, piece by piece.
    ours = -((1 + 4) / 2 * 3 + 4 * 15)
    theirs = -((0 + 4) / 2 * 8 + 4 * 10)
    assert over.gap == pytest.approx(math.exp((ours - theirs) / 18))
    assert over.outcome == HOLDS


def test_equivalence_is_within_the_margin(world: World) -> None:
    for seed in range(3):
        world.add("pause", seed, [0.80 + 0.01 * seed] * 20)
        world.add("sa_pause", seed, [0.81 + 0.011 * seed] * 20)
    test = {
        "metric": "accuracy_in_time",
        "gap": "difference",
        "selectors": ("sa_pause",),
        "against": ("pause",),
        "reason": "why not",
    }
    assert outcomes(world, on_runs("equivalence", margin=3, **test)) == [HOLDS]
    assert outcomes(world, on_runs("equivalence", margin=0.1, **test)) == [FAILS]
    better = {"direction": "higher", "margin": 0.1}
    assert outcomes(world, on_runs("noninferiority", **test | better)) == [HOLDS]
    worse = {"direction": "lower", "margin": 0.1}
    assert outcomes(world, on_runs("noninferiority", **test | worse)) == [FAILS]


def test_a_collapse_needs_a_rise_before_it(world: World) -> None:
    for seed in range(2):
        world.add("fedavg", seed, [0.1, *[0.7] * 15, *[0.1] * 30])
        world.add("random", seed, [0.7 - 0.01 * i for i in range(46)])
        world.add("pause", seed, [0.1, *[0.7] * 45])
    test = {"against": ("pause",), "margin": 10, "reason": "why not"}
    assert outcomes(world, on_runs("collapse", selectors=("fedavg",), **test)) == [HOLDS, HOLDS, HOLDS]
    assert outcomes(world, on_runs("collapse", selectors=("random",), **test)) == [FAILS, HOLDS, HOLDS]
    assert outcomes(world, on_runs("collapse", selectors=("pause",), **test | {"against": ("fedavg",)})) == [
        HOLDS,
        FAILS,
        FAILS,
    ]


def test_what_the_table_does_not_have_is_not_run(world: World) -> None:
    world.add("pause", 0)
    (finding,) = found(world, ordering())
    assert (finding.outcome, finding.note) == (NOT_RUN, "random of s is not in the experiment table")
    (finding,) = found(world, ordering().replace(scenarios={SCALE: ("elsewhere",)}))
    assert (finding.outcome, "elsewhere" in finding.note) == (NOT_RUN, True)
    assert outcomes(
        world, on_study("regret", selectors=("pause",), law="linear", margin=0.1, reason="?")
    ) == [NOT_RUN]


@pytest.fixture
def regrets(world: World) -> World:
    """A study in which PAUSE's regret is a logarithm, that of random selection linear, CS-UCB's a square."""
    t = np.unique(np.rint(np.geomspace(1, 100_000, 200)))
    curves = {"pause": 5 + 3 * np.log(t), "random": 2 + 0.4 * t, "cs_ucb": t**1.3}
    runs = pd.concat(
        pd.DataFrame({"selector": name, "seed": seed, "round": t, "regret": curve * (1 + seed / 10)})
        for name, curve in curves.items()
        for seed in (0, 1, 2)
    )
    world.study("study", fits=regret.fits(runs), growth=regret.growth(runs))
    return world


@pytest.mark.parametrize(
    ("selector", "law", "outcome"),
    [
        ("pause", "logarithmic", HOLDS),
        ("pause", "linear", FAILS),
        ("random", "linear", HOLDS),
        ("random", "logarithmic", FAILS),
        ("cs_ucb", "linear", FAILS),
        ("cs_ucb", "at least linear", HOLDS),
        ("pause", "at least linear", FAILS),
        ("fastest", "linear", NOT_RUN),
    ],
)
def test_the_law_of_regret(regrets: World, selector: str, law: str, outcome: str) -> None:
    (finding,) = found(regrets, on_study("regret", selectors=(selector,), law=law, margin=0.1, reason="?"))
    assert finding.outcome == outcome
    assert len(finding.seeds) == (0 if outcome == NOT_RUN else 3)


def test_the_law_of_a_searchs_time(world: World) -> None:
    sizes = np.array([10, 100, 1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
    small = np.array([10, 15, 20, 25, 30, 35])
    times = pd.concat(
        pd.DataFrame({"selector": name, "n_users": n_users, "median_s": t, "iteration_s": math.nan})
        for name, n_users, t in (
            ("pause", sizes, 1e-6 * sizes * np.log(sizes)),
            ("sa_vanilla", sizes, 1e-9 * sizes**2.0),
            ("sa_pause", sizes, 1e-6 * sizes),
            ("pause_brute", small, 1e-6 * np.exp(0.4 * small)),
        )
    )
    times[["listing_s", "n_listed"]] = math.nan
    slower_memory = times["n_users"] ** 0.1
    times["median_s"] *= slower_memory
    times["sort_s"] = 1e-8 * times["n_users"] * np.log(times["n_users"]) * slower_memory
    world.study("study", times=times)
    near = {"law": "linearithmic", "margin": 0.04, "reason": "?"}
    assert outcomes(world, on_study("cost", selectors=("pause", "sa_vanilla"), **near)) == [HOLDS, FAILS]
    square = {"law": "power", "exponent": 2.0, "margin": 0.2, "reason": "?"}
    assert outcomes(world, on_study("cost", selectors=("pause", "sa_vanilla"), **square)) == [FAILS, HOLDS]
    test = on_study("cost", selectors=("pause_brute", "pause"), law="exponential")
    assert outcomes(world, test) == [HOLDS, FAILS]
    assert outcomes(world, on_study("cost", selectors=("pause_brute", "sa_pause"), **near)) == [FAILS, FAILS]
    wide = {"law": "power", "exponent": 8.0, "margin": 4, "reason": "?"}  # the slope of the exponential, too
    assert outcomes(world, on_study("cost", selectors=("pause_brute",), **wide)) == [FAILS]
    world.study("study", times=times.assign(sort_s=math.nan))
    assert outcomes(world, on_study("cost", selectors=("pause",), **near)) == [NOT_RUN]


def test_a_share_of_instances(world: World) -> None:
    rows = [
        ("alsa", "final", 1.0, 983, 7, 10),
        ("alsa", "final", 30.0, 960, 0, 40),
        ("alsa", "final", 1000.0, 550, 400, 50),
        ("alsa", "best", 1.0, 100, 0, 900),
    ]
    columns = ["selector", "energy", "temperature_divisor", "n_won", "n_tied", "n_lost"]
    annealers = world.base.replace(selectors=("alsa", "sa_bsfl"))
    settings = Race(
        title="?", scenario=annealers, n_instances=1000, n_iterations=9, temperature_divisors=(1, 30, 1000)
    )
    world.study("study", settings, shares=pd.DataFrame(rows, columns=columns).assign(n_instances=1000))
    test = {"selectors": ("alsa",), "at_least": 0.95, "reason": "?"}
    chosen = test | {"rows": {"energy": ("final",)}}
    assert outcomes(world, on_study("share", **chosen)) == [HOLDS, UNDECIDED, FAILS]
    assert len(found(world, on_study("share", **test))) == 4
    (pooled,) = found(world, on_study("share", pool=("temperature_divisor",), **chosen))
    assert (pooled.outcome, pooled.gap) == (FAILS, pytest.approx((983 + 960 + 550) / 3000))
    assert pooled.note == "of 3,000 instances 2,493 are won, 407 tied, 100 lost"
    (hot,) = found(
        world, on_study("share", **test | {"rows": {"energy": ("final",), "temperature_divisor": (1.0,)}})
    )
    assert (hot.question, hot.measure) == ("share won, κ = 1.0: ALSA, in all", "share won, κ = 1.0")
    assert outcomes(world, on_study("share", **test | {"rows": {"energy": ("none",)}})) == [NOT_RUN]


def test_where_nothing_was_run_a_study_of_selection_stands_in(world: World) -> None:
    """Leakage and time are judged on it, accuracy is not, and findings say where they come from."""
    for seed, leakage in ((0, 2.0), (1, 2.2), (2, 2.1)):
        world.simulate("pause", seed, leakage=leakage)
        world.simulate("random", seed, leakage=2 * leakage)
    test = {"selectors": ("pause",), "against": ("random",), "direction": "lower", "gap": "ratio"}
    (leaked,) = found(world, on_runs("ordering", metric="leakage_after_rounds", **test))
    assert (leaked.outcome, leaked.note) == (HOLDS, "selection alone")
    assert leaked.runs[0] == "selection_s/pause/seed-0"
    (timed,) = found(world, on_runs("ordering", metric="seconds_to_target", **test))
    assert (timed.outcome, timed.note) == (NOT_RUN, "selection alone: nothing was trained")
    for seed in (0, 1):
        world.add("pause", seed, leakage=9.0 + seed)
        world.add("random", seed, leakage=1.0)
    (both,) = found(world, on_runs("ordering", metric="leakage_after_rounds", **test))
    assert (both.seeds, both.note) == ((0, 1, 2), "selection alone")
    assert both.runs[:3] == ("s/pause/seed-0", "s/pause/seed-1", "selection_s/pause/seed-2")


def test_leakage_at_equal_time_and_after_equal_rounds(world: World) -> None:
    """It rises by 1 a round of PAUSE, by 1.5 a round twice as long of random selection."""
    for seed in (0, 1):
        world.add("pause", seed, [0.5] * 20, round_s=1.0, leakage=20.0)
        world.add("random", seed, [0.5] * 20, round_s=2.0, leakage=30.0)

    def gap(metric: str) -> float:
        (one,) = found(world, ordering(metric=metric))
        return one.gap

    assert gap("leakage_after_rounds") == pytest.approx(20 / 30)
    assert gap("leakage_over_rounds") == pytest.approx(20 / 30)
    assert gap("leakage_in_time") == pytest.approx(20 / 15)  # after 20 s, 10 rounds of random selection
    # A step function: 0 in the first round, then 1 for a round, and so on.
    assert gap("leakage_over_time") == pytest.approx(sum(range(20)) / (2 * 1.5 * sum(range(10))))


def test_early_is_the_first_quarter_of_the_common_time(world: World) -> None:
    """Of 2 s to 21 s: 2 s to 6.75 s. Accuracy rises by 1 % a second."""
    for seed in (0, 1):
        world.add("pause", seed, [0.01 * t for t in range(1, 22)])
        world.add("random", seed, [0.0] * 21, round_s=2.0)
    keys: dict[str, Any] = {"gap": "difference", "direction": "higher"}
    (early,) = found(world, ordering(metric="early_accuracy", **keys))
    (over,) = found(world, ordering(metric="accuracy_over_time", **keys))
    assert (early.gap, over.gap) == (pytest.approx(4.375), pytest.approx(11.5))


def test_sparse_evaluations_are_compared_on_straight_lines(world: World) -> None:
    """0.1 a second in both, evaluated at other times."""
    for seed in (0, 1):
        line = [0.01 * t if t % 3 == 0 else math.nan for t in range(1, 22)]
        world.add("pause", seed, line, loss=line)
        world.add("random", seed, [0.02 * t for t in range(1, 22)], round_s=2.0)
    keys: dict[str, Any] = {"gap": "difference", "direction": "higher"}
    (over,) = found(world, ordering(metric="accuracy_over_time", **keys))
    assert over.gap == pytest.approx(0, abs=1e-9)
    (early,) = found(world, ordering(metric="early_accuracy", **keys))
    assert early.gap == pytest.approx(0, abs=1e-9)


def select(world: World, selector: str, seed: int, selections: list[list[int]]) -> None:
    """A run with these selections."""
    world.add(selector, seed, [0.5] * len(selections))
    path = world.folder / f"runs/s/{selector}/seed-{seed}/rounds.parquet"
    pd.read_parquet(path).assign(selection=selections).to_parquet(path)


def test_spread_of_latency_by_hand() -> None:
    """Standard deviation of all users of a round, not an estimate from a sample; mean over common rounds."""

    def run(*selections: list[int]) -> Replicate:
        return Replicate("one", pd.DataFrame({"selection": selections}), {}, np.array([1.0, 3.0, 8.0]))

    ours, theirs = run([0, 1], [2], [0, 1, 2, 2], [0, 2]), run([0, 1], [0, 1], [1, 2])
    # 1 and 3: 1; alone: left out; 1, 3 and 8, of mean 4: the root of (9 + 1 + 16) / 3; not in common.
    assert latency_spread(ours, theirs) == pytest.approx((1 + math.sqrt(26 / 3)) / 2, rel=1e-12)
    assert latency_spread(theirs, ours) == pytest.approx((1 + 1 + 2.5) / 3, rel=1e-12)
    assert math.isnan(latency_spread(run([2], [1]), ours))


def test_where_regret_ends(regrets: World) -> None:
    test = {"selectors": ("pause",), "against": ("random",), "reason": "?"}
    (one,) = found(regrets, on_study("final_regret", margin=0.9, **test))
    assert (one.outcome, one.gap) == (HOLDS, pytest.approx((5 + 3 * math.log(1e5)) / (2 + 4e4)))
    assert outcomes(regrets, on_study("final_regret", margin=0.9999, **test)) == [FAILS]
    assert outcomes(regrets, on_study("final_regret", margin=0, **test | {"against": ("alsa",)})) == [NOT_RUN]


def test_the_time_of_listing(world: World) -> None:
    sizes = np.array([300, 1_000, 3_000, 10_000, 30_000])
    times = pd.concat(
        pd.DataFrame(
            {
                "selector": name,
                "n_users": sizes,
                "median_s": 1.0,
                "iteration_s": math.nan,
                "listing_s": t,
                "n_listed": math.nan,
                "sort_s": 1e-9 * sizes * np.log(sizes),
            }
        )
        for name, t in (("sa_pause", 1e-8 * sizes), ("sa_vanilla", 1e-9 * sizes**2.0))
    )
    world.study("study", times=times)
    test = {"quantity": "listing", "reason": "?", "selectors": ("sa_pause", "sa_vanilla")}
    assert outcomes(world, on_study("cost", law="at most linearithmic", margin=0.1, **test)) == [HOLDS, FAILS]
    assert outcomes(world, on_study("cost", law="linearithmic", margin=0.04, **test)) == [FAILS, FAILS]
    assert outcomes(world, on_study("cost", law="power", exponent=2.0, margin=0.2, **test)) == [FAILS, HOLDS]
    alone = on_study("cost", law="linearithmic", margin=0.04, reason="?", selectors=("sa_pause",))
    assert outcomes(world, alone) == [NOT_RUN]
