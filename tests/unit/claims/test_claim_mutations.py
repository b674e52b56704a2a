"""Deliberate errors change findings, and changes that say nothing new do not.

First on simulations without training on the demo's network, then on made-up runs, one change a rule.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from worlds import SCALE, World, claim, on_runs

from pausefl.bandit.rewards import AverageReward
from pausefl.claims.load import Claim, load_claims
from pausefl.claims.verdicts import evaluate
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.privacy.ledger import Ledger
from pausefl.privacy.schedule import GeometricSchedule
from pausefl.settings import Scenario

ROOT = Path(__file__).parents[3]
SELECTORS = ("pause", "random", "clustered_size", "fastest", "fedavg")
SHIPPED = {one.id: one for one in load_claims(ROOT / "config/claims.yaml", ROOT / "config" / "scenarios")}

BOUND = claim(*(t.replace(scenarios={SCALE: ("s",)}) for t in SHIPPED["C2"].tests))
COINCIDENCE = claim(*(t.replace(scenarios={SCALE: ("s",)}) for t in SHIPPED["C7"].tests))
#: That part of C6 which the demo's network shows.
LEAKAGE = claim(
    on_runs(
        "ordering",
        metric="leakage_over_rounds",
        gap="ratio",
        direction="lower",
        selectors=("pause",),
        against=("random", "clustered_size"),
    )
)


def simulated(world: World, names: dict[str, str] | None = None) -> World:
    """Three seeds of each selector; ``names`` says under which other name a selector's runs are kept."""
    for selector in SELECTORS:
        for seed in range(3):
            rounds = selection_only(world.base, selector, seed).run(120).rounds
            world.write(world.plan((names or {}).get(selector, selector), seed), rounds)
    return world


def findings(world: World) -> list[str]:
    judged = evaluate([BOUND, LEAKAGE, COINCIDENCE], world.records(), SCALE)
    return [one.finding for one in judged]


def test_unbroken_all_three_are_supported(world: World) -> None:
    assert findings(simulated(world)) == ["supported"] * 3


def test_a_reward_of_the_wrong_sign_leaks_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    right = AverageReward.scores
    monkeypatch.setattr(AverageReward, "scores", lambda self, history: -right(self, history))
    assert findings(simulated(world)) == ["supported", "contradicted", "supported"]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_ledger_that_tells_wrong_numbers(
    world: World, monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    right = Ledger.spent
    monkeypatch.setattr(Ledger, "spent", lambda self: factor * right(self))
    assert findings(simulated(world)) == ["contradicted", "supported", "mixed"]


def test_a_ledger_that_forgets_participations(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    right = GeometricSchedule.spent
    monkeypatch.setattr(GeometricSchedule, "spent", lambda self, n: right(self, np.asarray(n) // 2))
    bound, _, coincidence = findings(simulated(world))
    assert (bound, coincidence) == ("contradicted", "mixed")


@pytest.mark.parametrize(
    ("swapped", "expected"),
    [
        (("pause", "random"), ["supported", "contradicted", "supported"]),
        (("fedavg", "pause"), ["supported", "contradicted", "contradicted"]),
    ],
)
def test_swapped_runs(world: World, swapped: tuple[str, str], expected: list[str]) -> None:
    names = dict([swapped, swapped[::-1]])
    assert findings(simulated(world, names)) == expected


def test_a_smaller_budget_than_was_spent(world: World, demo: Scenario) -> None:
    simulated(world)
    assert demo.privacy is not None
    less = demo.privacy.replace(epsilon_total=demo.privacy.epsilon_total / 2)
    world.scenarios["s"] = world.scenarios["s"].replace(privacy=less)
    assert findings(world)[0] == "contradicted"


#: PAUSE learns faster: 0.1 more accuracy a second, and half of the leakage.
FASTER = claim(
    *(
        on_runs("ordering", gap=gap, direction=way, metric=metric, selectors=("pause",), against=("random",))
        for metric, gap, way in (
            ("accuracy_over_time", "difference", "higher"),
            ("accuracy_in_time", "difference", "higher"),
            ("leakage_over_time", "ratio", "lower"),
            ("leakage_in_time", "ratio", "lower"),
        )
    )
)


def race(
    world: World,
    seeds: int = 4,
    *,
    names: tuple[str, str] = ("pause", "random"),
    lasts: int = 0,
    lead: float = 0.1,
    scenario: str = "s",
) -> World:
    """Two selectors of 1 s and 2 s a round; ``lasts`` shortens the rounds of the first at its end."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        t = np.arange(1.0, 41.0)
        for name, round_s, more in zip(names, (1.0, 2.0), (lead, 0.0), strict=True):
            noise = 0.005 * rng.standard_normal(40)
            accuracy = (0.2 + more + 0.005 * round_s * t + noise).tolist()
            leakage = (1.0 if more == lead else 4.0) + 0.01 * seed
            world.add(name, seed, accuracy, round_s=round_s, leakage=leakage, scenario=scenario)
    if lasts:
        for seed in range(seeds):
            stretch(world, names[0], seed, lasts)
    return world


def stretch(world: World, selector: str, seed: int, factor: float) -> None:
    """Let a run end later, after rounds without news: all of its last half lasts ``factor`` times as long."""
    path = world.folder / f"runs/s/{selector}/seed-{seed}/rounds.parquet"
    rounds = pd.read_parquet(path)
    rounds.loc[20:, "latency_s"] *= factor
    rounds["elapsed_s"] = rounds["latency_s"].cumsum()
    rounds.to_parquet(path)


def finding(world: World, *claims: Claim) -> str:
    (one,) = evaluate(claims or [FASTER], world.records(), SCALE, partial=True)
    return one.finding


def test_the_race_as_it_was_run(world: World) -> None:
    assert finding(race(world)) == "supported"


def test_a_run_that_only_goes_on_changes_nothing(world: World, tmp_path: Path) -> None:
    """The rival's curve up to PAUSE's end is the same; what comes after it is not compared."""
    usual = {c.question: c.gap for c in evaluate([FASTER], race(world).records(), SCALE)[0].comparisons}
    other = World(tmp_path / "other", world.base)
    race(other)
    for seed in range(4):
        path = other.folder / f"runs/s/random/seed-{seed}/rounds.parquet"
        rounds = pd.read_parquet(path)
        rounds.loc[rounds["elapsed_s"] > 42, ["accuracy", "loss"]] = 0.99
        rounds.loc[rounds["elapsed_s"] > 42, "leakage_max"] = 99.0
        rounds.to_parquet(path)
    later = {c.question: c.gap for c in evaluate([FASTER], other.records(), SCALE)[0].comparisons}
    assert later == pytest.approx(usual)


def test_a_shifted_end_moves_the_time_of_comparison(world: World) -> None:
    """PAUSE's last half takes 12 times as long: random selection has caught up when the two are compared."""
    race(world, lasts=12, lead=0.1)
    (one,) = evaluate([FASTER], world.records(), SCALE)
    in_time = next(c for c in one.comparisons if c.question.startswith("accuracy at the earlier end"))
    assert in_time.outcome == "fails"
    assert one.finding == "mixed"


def test_a_repeated_run_has_no_second_vote(world: World) -> None:
    race(world)
    race(world, scenario="t")
    twice = claim(*(test.replace(scenarios={SCALE: ("s", "t")}) for test in FASTER.tests))
    (one,) = evaluate([twice], world.records(), SCALE)
    assert one.finding == "supported"
    assert (one.coverage.holds, one.coverage.repeats) == (4, 4)
    assert len(one.votes) == 4
    assert all(each.repeats.startswith("s: ") for each in one.comparisons if each.where == "t")


def test_another_training_of_the_same_selections_votes_on_accuracy_alone(world: World) -> None:
    race(world)
    race(world, scenario="t", lead=0.11)
    twice = claim(*(test.replace(scenarios={SCALE: ("s", "t")}) for test in FASTER.tests))
    (one,) = evaluate([twice], world.records(), SCALE)
    repeats = {each.question.split()[0] for each in one.comparisons if each.repeats}
    assert repeats == {"leakage"}


def test_deleted_seeds_leave_an_effect_and_no_decision(world: World) -> None:
    race(world)
    for seed in (1, 2, 3):
        shutil.rmtree(world.folder / f"runs/s/random/seed-{seed}")
    (one,) = evaluate([FASTER], world.records(), SCALE, partial=True)
    assert one.finding == "undecided"
    assert (one.coverage.seeds, one.coverage.lacking) == ((1, 1), 4)
    assert all(math.isfinite(each.gap) for each in one.comparisons)
    with pytest.raises(PauseflError, match="3 results are missing"):
        evaluate([FASTER], world.records(), SCALE)


@pytest.mark.parametrize(
    ("factor", "expected"), [(0.1, "contradicted"), (0.3, "supported"), (1.0, "supported")]
)
def test_a_multiplied_effect_crosses_the_margin(world: World, factor: float, expected: str) -> None:
    margin = claim(
        on_runs(
            "ordering",
            metric="accuracy_over_time",
            gap="difference",
            direction="higher",
            margin=3,
            reason="?",
            selectors=("pause",),
            against=("random",),
        )
    )
    # The slower of the two is evaluated first after 2 s, when its line is as far as the other's.
    assert finding(race(world, lead=factor * 0.2), margin) == expected
