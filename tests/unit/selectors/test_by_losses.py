"""Power-of-Choice and Oort: as likely to select each user as renderings that look at all past rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import Reports, assert_chances, oort_chances, power_of_choice_chances

from pausefl.bandit.history import Feedback, History
from pausefl.selectors import Selector
from pausefl.selectors.by_losses import Oort, PowerOfChoice

SIZES = [10, 80, 35, 35, 60, 5, 50, 25]
N_USERS = len(SIZES)
Chances = Callable[[list[Reports], list[int]], list[float]]


def oort(**constants: float) -> Oort:
    """Oort with other constants; its pacer looks back every fourth round."""
    select = Oort(0.2)
    for name, value in ({"pacer_window": 4} | constants).items():
        setattr(select, name, value)
    return select


def report(select: Selector, history: History, users: Any, rng: np.random.Generator) -> Reports:
    """What users report: higher numbers are slower, and everyone's loss falls and varies."""
    latency = 0.1 * (users + 1) + rng.uniform(0, 0.2, len(users))
    losses = rng.uniform(0.2, 2.0, len(users)) / history.round
    told = Feedback(users, latency, np.ones(N_USERS), losses=losses)
    select.observe(told, history)
    history.observe(told)
    return users.tolist(), latency.tolist(), losses.tolist()


def compare(select: Selector, m: int, chances_of: Chances, n_rounds: int, all_there: bool = True) -> None:
    """Selections have the probabilities of the rendering in every round."""
    rng, history = np.random.default_rng(0), History.empty(np.array(SIZES), m, 0.05)
    past: list[Reports] = []
    for _ in range(n_rounds):
        if not all_there:
            history.available = rng.permutation(N_USERS) < rng.integers(m, N_USERS + 1)
        assert_chances(select, history, chances_of(past, np.flatnonzero(history.available).tolist()))
        past.append(report(select, history, select(history, rng), rng))


@pytest.mark.parametrize(("m", "n_candidates"), [(1, 1), (2, 4), (3, 3)])
@pytest.mark.parametrize("all_there", [True, False])
def test_power_of_choice_has_the_probabilities_of_a_slow_rendering(
    m: int, n_candidates: int, all_there: bool
) -> None:
    compare(
        PowerOfChoice(n_candidates),
        m,
        lambda past, coming: power_of_choice_chances(past, coming, SIZES, m, n_candidates),
        n_rounds=12,
        all_there=all_there,
    )


@pytest.mark.parametrize(
    ("m", "changes"),
    [
        (3, {}),
        (3, {"exploration_share": 0.0, "exploration_least": 0.0, "utility_cutoff": 0.5}),
        (4, {"exploration_least": 0.5, "exploration_decay": 0.5, "staleness_bonus": 5.0}),
        (2, {"exploration_share": 0.0, "exploration_least": 0.0, "straggler_penalty": 0.0}),
        (2, {"exploration_share": 0.5, "utility_clip": 0.5, "utility_cutoff": 0.1, "pacer_window": 2}),
    ],
)
@pytest.mark.parametrize("all_there", [True, False])
def test_oort_has_the_probabilities_of_a_slow_rendering(
    m: int, changes: dict[str, float], all_there: bool
) -> None:
    select = oort(**changes)
    compare(
        select,
        m,
        lambda past, coming: oort_chances(past, coming, SIZES, m, select),
        n_rounds=30,
        all_there=all_there,
    )


def test_losses_that_are_not_finite_count_as_the_largest() -> None:
    for select in (PowerOfChoice(N_USERS), oort(exploration_share=0.0, exploration_least=0.0)):
        history = History.empty(np.full(N_USERS, 10), 2, 0.05)
        losses = np.array([1.0, np.nan, 2.0, np.inf, 0.5, 1.5, 0.1, 0.3])
        told = Feedback(np.arange(N_USERS), np.full(N_USERS, 0.1), np.ones(N_USERS), losses=losses)
        select.observe(told, history)
        history.observe(told)
        assert select(history, np.random.default_rng(0)).tolist() == [1, 3]
