"""Deliberate errors change verdicts: simulations without training on the demo's network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from worlds import SCALE, World, claim, on_runs

from pausefl.bandit.rewards import AverageReward
from pausefl.claims.verdicts import evaluate
from pausefl.privacy.ledger import Ledger
from pausefl.privacy.schedule import GeometricSchedule
from pausefl.settings import Scenario
from pausefl.settings.claims import load_claims
from pausefl.studies.simulate import selection_only

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
