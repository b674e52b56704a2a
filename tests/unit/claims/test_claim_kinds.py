"""Each kind of test on runs and studies whose outcome is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from worlds import SCALE, World, on_runs, on_study

from pausefl.claims import searches
from pausefl.claims.findings import Finding
from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED, estimate, gaps, judge, region
from pausefl.registry.claims import CLAIM_TESTS
from pausefl.selectors.exact import Pause
from pausefl.settings.claims import ClaimTest
from pausefl.studies import growth
from pausefl.studies.graphs import Swaps, sample_criteria

RISING = [0.05 * i for i in range(1, 21)]


def found(world: World, test: ClaimTest) -> list[Finding]:
    return list(CLAIM_TESTS[test.kind].load()(test, world.records(), SCALE))


def outcomes(world: World, test: ClaimTest) -> list[str]:
    return [finding.outcome for finding in found(world, test)]


def ordering(**keys: Any) -> ClaimTest:
    base = {"metric": "leakage_max", "gap": "ratio", "direction": "lower", "selectors": ("pause",)}
    base |= {"against": ("random",)}
    return on_runs("ordering", **{key: value for key, value in (base | keys).items() if value})


def test_an_interval_is_students() -> None:
    values = [1.0, 2.0, 4.0, 1.5]
    ours, theirs = estimate(values), stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert math.isnan(estimate([3.0]).low)


def test_outcomes_follow_the_whole_interval() -> None:
    assert judge(np.array([-2.0, -2.1, -1.9]), *region("lower", 1.0, "difference"))[0] == HOLDS
    assert judge(np.array([-2.0, -9.0, -1.9]), *region("lower", 1.0, "difference"))[0] == UNDECIDED
    assert judge(np.array([2.0, 2.1, 1.9]), *region("lower", 1.0, "difference"))[0] == FAILS
    assert judge(np.array([0.1, 0.0, -0.1]), *region("equal", 0.5, "difference"))[0] == HOLDS
    assert judge(np.array([0.1, 0.9, -0.1]), *region("equal", 0.5, "difference"))[0] == UNDECIDED
    assert judge(np.array([-0.4]), *region("lower", 0.5, "ratio"))[0] == FAILS  # 0.67 is not below 0.5


def test_an_infinite_gap_is_decided_seed_by_seed() -> None:
    faster = gaps([1.0, 2.0], [math.inf, 3.0], "ratio")
    outcome, estimated = judge(faster, *region("lower", 0.0, "ratio"))
    assert outcome == HOLDS
    assert math.exp(estimated.mean) == pytest.approx(2 / 3)
    assert math.isnan(estimated.low)
    assert judge(gaps([math.inf, 2.0], [1.0, 3.0], "ratio"), *region("lower", 0.0, "ratio"))[0] == UNDECIDED
    assert judge(gaps([math.inf], [1.0], "ratio"), *region("lower", 0.0, "ratio"))[0] == FAILS
    both = gaps([math.inf, 2.0], [math.inf, 3.0], "ratio")
    assert judge(both, *region("lower", 0.0, "ratio"))[0] == UNDECIDED


def test_an_ordering_is_of_pairs(world: World) -> None:
    for seed in range(3):  # seeds differ by far more than selectors do
        world.add("pause", seed, leakage=10.0**seed)
        world.add("random", seed, leakage=1.2 * 10.0**seed)
    (finding,) = found(world, ordering())
    assert finding.outcome == HOLDS
    assert finding.gap == pytest.approx(1 / 1.2)
    assert finding.seeds == (0, 1, 2)
    assert finding.runs[0] == "s/pause/seed-0"
    assert len(finding.runs) == 6
    assert outcomes(world, ordering(margin=0.3)) == [FAILS]
    assert outcomes(world, ordering(direction="higher")) == [FAILS]
    assert outcomes(world, ordering(selectors=("random",), against=("pause",))) == [FAILS]


def test_an_ordering_between_scenarios(world: World) -> None:
    for seed in range(2):
        world.add("pause", seed, leakage=2.0)
        world.add("pause", seed, leakage=1.0, scenario="other")
    test = ordering(against=(), reference={SCALE: "other"}, direction="higher")
    (finding,) = found(world, test)
    assert (finding.outcome, finding.gap) == (HOLDS, pytest.approx(2.0))
    assert set(finding.runs) == {f"{name}/pause/seed-{seed}" for name in ("s", "other") for seed in (0, 1)}


def test_who_never_reaches_the_target_is_the_slower(world: World) -> None:
    for seed in range(2):
        world.add("pause", seed, RISING)
        world.add("random", seed, [0.1] * 20, round_s=0.01)
        world.add("fastest", seed, [0.1] * 20)
    to_target = {"metric": "seconds_to_target"}
    (finding,) = found(world, ordering(**to_target))
    assert finding.outcome == HOLDS
    assert math.isnan(finding.gap)
    assert "random never reaches the target in 2 of 2 seeds" in finding.note
    assert outcomes(world, ordering(selectors=("random",), against=("pause",), **to_target)) == [FAILS]
    assert outcomes(world, ordering(selectors=("random",), against=("fastest",), **to_target)) == [UNDECIDED]


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
    assert finding.gap == pytest.approx(np.mean(RISING[10:]) - np.mean(RISING[:10]))
    assert finding.one_seed
    assert math.isnan(finding.low)


def test_loss_over_time_tells_who_is_sooner_at_the_same_floor(world: World) -> None:
    """ln loss falls by 1 a round to a floor, in rounds of 1 s or of 2 s."""
    falling = np.exp(-np.minimum(np.arange(20), 4.0)).tolist()
    world.add("bsfl", 0, [0.5] * 20, round_s=1.0, loss=falling)
    world.add("random", 0, [0.5] * 20, round_s=2.0, loss=falling)
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
        "metric": "final_accuracy",
        "gap": "difference",
        "selectors": ("sa_pause",),
        "against": ("pause",),
    }
    assert outcomes(world, on_runs("equivalence", margin=0.03, **test)) == [HOLDS]
    assert outcomes(world, on_runs("equivalence", margin=0.001, **test)) == [FAILS]


def test_a_collapse_needs_a_rise_before_it(world: World) -> None:
    for seed in range(2):
        world.add("fedavg", seed, [0.1, *[0.7] * 15, *[0.1] * 30])
        world.add("random", seed, [0.7 - 0.01 * i for i in range(46)])
        world.add("pause", seed, [0.1, *[0.7] * 45])
    test = {"against": ("pause",), "margin": 0.1}
    assert outcomes(world, on_runs("collapse", selectors=("fedavg",), **test)) == [HOLDS, HOLDS, HOLDS]
    assert outcomes(world, on_runs("collapse", selectors=("random",), **test)) == [FAILS, HOLDS, HOLDS]
    assert outcomes(world, on_runs("collapse", selectors=("pause",), against=("fedavg",), margin=0.1)) == [
        HOLDS,
        FAILS,
        FAILS,
    ]


def spent(world: World, n: int) -> Any:
    """Leakage after 1 .. n participations, from the closed form."""
    privacy = world.base.privacy
    assert privacy is not None
    assert privacy.decay is not None
    return privacy.epsilon_total * -np.expm1(-privacy.decay * np.arange(1, n + 1))


def write_leakage(world: World, selector: str, leakage: Any) -> None:
    """A run in which users 0 and 1 take part in every round, with the leakage that the ledger tells."""
    world.add(selector, 0, (0.5,) * len(leakage))
    path = world.folder / "runs/s" / selector / "seed-0/rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds["leakage_max"] = leakage
    rounds.to_parquet(path)


@pytest.mark.parametrize(("part", "outcome"), [(1.0, HOLDS), (0.5, FAILS), (2.0, FAILS)])
def test_leakage_is_counted_again_from_the_selections(world: World, part: float, outcome: str) -> None:
    write_leakage(world, "pause", part * spent(world, 30))
    (finding,) = found(world, on_runs("bound"))
    assert finding.outcome == outcome
    assert ("pause/seed-0" in finding.note) == (outcome == FAILS)


def test_runs_without_privacy_have_no_bound(world: World) -> None:
    write_leakage(world, "pause", spent(world, 30))
    world.add("fedavg_no_privacy", 0, (0.5,) * 30, leakage=math.inf)
    assert outcomes(world, on_runs("bound")) == [HOLDS]


def test_coincidence_is_in_every_round_and_with_the_schedule(world: World) -> None:
    test = on_runs("coincidence", selectors=("fedavg",), against=("fastest",))
    leakage = spent(world, 30)
    write_leakage(world, "fedavg", leakage)
    later = leakage.copy()
    later[10] = leakage[9]
    write_leakage(world, "fastest", later)
    assert outcomes(world, test) == [FAILS, HOLDS]


def test_what_the_table_does_not_have_is_not_run(world: World) -> None:
    world.add("pause", 0)
    (finding,) = found(world, ordering())
    assert (finding.outcome, finding.note) == (NOT_RUN, "random is not in the experiment table of s")
    elsewhere = ClaimTest(kind="bound", scenarios={SCALE: ("elsewhere",)})
    (finding,) = found(world, elsewhere)
    assert (finding.outcome, "elsewhere" in finding.note) == (NOT_RUN, True)
    assert outcomes(world, on_study("regret", selectors=("pause",), law="linear", margin=0.1)) == [NOT_RUN]


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
    world.study("study", fits=growth.fits(runs), growth=growth.growth(runs))
    return world


@pytest.mark.parametrize(
    ("selector", "law", "outcome"),
    [
        ("pause", "logarithmic", HOLDS),
        ("pause", "linear", FAILS),
        ("random", "linear", HOLDS),
        ("random", "logarithmic", FAILS),
        ("cs_ucb", "linear", FAILS),
        ("fastest", "linear", NOT_RUN),
    ],
)
def test_the_law_of_regret(regrets: World, selector: str, law: str, outcome: str) -> None:
    (finding,) = found(regrets, on_study("regret", selectors=(selector,), law=law, margin=0.1))
    assert finding.outcome == outcome
    assert len(finding.seeds) == (0 if outcome == NOT_RUN else 3)


def test_the_law_of_a_searchs_time(world: World) -> None:
    sizes = np.array([10, 100, 1_000, 10_000, 100_000, 1_000_000])
    small = np.array([10, 15, 20, 25, 30, 35])
    times = pd.concat(
        pd.DataFrame({"selector": name, "n_users": n_users, "median_s": t, "iteration_s": math.nan})
        for name, n_users, t in (
            ("pause", sizes, 1e-6 * sizes * np.log(sizes)),
            ("sa_vanilla", sizes, 1e-9 * sizes**2.0),
            ("pause_brute", small, 1e-6 * np.exp(0.4 * small)),
        )
    )
    world.study("study", times=times)
    near = {"law": "power", "exponent": 1.09, "margin": 0.2}
    assert outcomes(world, on_study("cost", selectors=("pause", "sa_vanilla"), **near)) == [HOLDS, FAILS]
    test = on_study("cost", selectors=("pause_brute", "pause"), law="exponential")
    assert outcomes(world, test) == [HOLDS, FAILS]
    assert outcomes(world, on_study("cost", selectors=("pause_brute",), **near)) == [FAILS]


def test_a_share_of_instances(world: World) -> None:
    rows = [
        ("alsa", "final", 1.0, 0.983, 0.973, 0.989),
        ("alsa", "final", 30.0, 0.96, 0.94, 0.97),
        ("alsa", "final", 1000.0, 0.55, 0.5, 0.6),
        ("alsa", "best", 1.0, 0.1, 0.0, 0.2),
    ]
    columns = ["selector", "energy", "temperature_divisor", "share", "low", "high"]
    world.study("study", summary=pd.DataFrame(rows, columns=columns).assign(n_instances=1000))
    test = on_study("share", selectors=("alsa",), at_least=0.95)
    assert outcomes(world, test) == [HOLDS, UNDECIDED, FAILS]


def test_the_exact_search_is_exact_and_a_wrong_one_is_not(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = ClaimTest(kind="exactness", rewards=("r1", "r2", "bsfl"), n_instances=40)
    assert outcomes(world, test) == [HOLDS] * 3
    first = lambda self, objective, history, users, rng: np.arange(objective.n_selected)  # noqa: E731
    monkeypatch.setattr(Pause, "search", first)
    assert outcomes(world, test) == [FAILS] * 3


@pytest.mark.parametrize("selector", ["sa_pause", "sa_bsfl"])
def test_the_law_of_annealing_is_that_of_the_exact_chain(
    selector: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks against every single iteration, of the first 1,000."""
    monkeypatch.setattr(searches, "DECADES", (2, 3))
    blocks = searches.probabilities(selector, 4)
    monkeypatch.setattr(searches, "EXACT", 1000)
    np.testing.assert_allclose(blocks, searches.probabilities(selector, 4), atol=0.02)


def test_annealing_is_in_equilibrium_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every swap admitted, the law tends to weights of (1 + j)^(energy / C)."""
    monkeypatch.setattr(searches, "DECADES", (100,))
    held = searches.probabilities("sa_bsfl", 5)[:, 0]
    for instance, probability in enumerate(held):
        criteria = sample_criteria(5, instance)
        energy = Swaps.of(5, 2).energies(criteria["ucb"], criteria["g"])
        weights = np.exp((energy - energy.max()) / np.ptp(energy) * 100 * math.log(10))
        assert probability == pytest.approx(1 / weights.sum(), abs=0.01)


def test_the_limit_fails_where_the_probability_does_not_rise(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "DECADES", (1, 30))
    test = ClaimTest(kind="limit", selectors=("sa_pause",), n_instances=4, at_least=0.5)
    assert outcomes(world, test) == [HOLDS]
    assert outcomes(
        world, ClaimTest(kind="limit", selectors=("sa_pause",), n_instances=20, at_least=1.0)
    ) == [UNDECIDED]
    monkeypatch.setattr(searches, "_step", lambda walk, loss, log_j: searches._stochastic(walk.copy()))
    assert outcomes(world, test) == [FAILS]


def test_where_nothing_was_run_a_study_of_selection_stands_in(world: World) -> None:
    """Leakage and time are judged on it, accuracy is not, and findings say where they come from."""
    for seed, leakage in ((0, 2.0), (1, 2.2), (2, 2.1)):
        world.simulate("pause", seed, leakage=leakage)
        world.simulate("random", seed, leakage=2 * leakage)
    test = {"selectors": ("pause",), "against": ("random",), "direction": "lower", "gap": "ratio"}
    (leaked,) = found(world, on_runs("ordering", metric="leakage_max", **test))
    assert (leaked.outcome, leaked.note) == (HOLDS, "selection alone")
    assert leaked.runs[0] == "selection_s/pause/seed-0"
    (timed,) = found(world, on_runs("ordering", metric="seconds_to_target", **test))
    assert timed.outcome == NOT_RUN
    world.add("pause", 0, leakage=9.0)
    world.add("random", 0, leakage=1.0)
    (trained,) = found(world, on_runs("ordering", metric="leakage_max", **test))
    assert (trained.outcome, trained.seeds, trained.note) == (FAILS, (0,), "")
