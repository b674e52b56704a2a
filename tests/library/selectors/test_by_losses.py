"""Power-of-Choice and Oort: as likely to select each user as renderings that look at all past rounds."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
import pytest
from oracles import Reports, assert_chances, oort_chances, power_of_choice_chances

from pausefl.bandit.history import Feedback, History
from pausefl.selectors import Selector
from pausefl.selectors.by_losses import Oort, PowerOfChoice
from pausefl.selectors.settings import SelectionSettings

SIZES = [10, 80, 35, 30, 60, 5, 50, 25]
N_USERS = len(SIZES)
Chances = Callable[[list[Reports], list[int]], list[float]]


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
        (3, {"pacer_step": 2, "pacer_delta": 20.0}),
        (3, {"exploration_share": 0.0, "exploration_least": 0.0, "utility_cutoff": 0.5}),
        (4, {"exploration_least": 0.5, "exploration_decay": 0.5, "staleness_bonus": 5.0}),
        (2, {"straggler_penalty": 0.0, "exploration_window": 1.0}),
        (2, {"exploration_share": 0.5, "utility_clip": 0.5, "utility_cutoff": 0.05, "pacer_step": 3}),
    ],
)
@pytest.mark.parametrize("all_there", [True, False])
def test_oort_has_the_probabilities_of_a_slow_rendering(
    m: int, changes: dict[str, Any], all_there: bool
) -> None:
    select = Oort(**changes)
    start = changes.get("pacer_percentile", 10.0)
    compare(
        select,
        m,
        lambda past, coming: oort_chances(past, coming, SIZES, m, select, start),
        n_rounds=30,
        all_there=all_there,
    )


def test_oorts_constants_are_those_of_the_released_code() -> None:
    """The defaults of its argument parser (SymbioticLab/Oort, 05a3aa1)."""
    released = {
        "utility_cutoff": 0.7,  # cut_off_util
        "utility_clip": 0.98,  # clip_bound
        "straggler_penalty": 2.0,  # round_penalty
        "exploration_share": 0.9,  # exploration_factor
        "exploration_decay": 0.95,
        "exploration_least": 0.2,  # exploration_min
        "exploration_window": 5.0,  # sample_window
        "pacer_percentile": 10.0,  # round_threshold
        "pacer_step": 20,
        "pacer_delta": 5.0,
    }
    fields = SelectionSettings.model_fields
    assert {key: fields[key].default for key in released} == released
    assert {key: one.default for key, one in signature(Oort).parameters.items()} == {
        key: fields[key].default for key in signature(Oort).parameters
    }


def test_the_pacer_relaxes_where_utilities_are_flat_and_tightens_where_they_jump() -> None:
    select, history = Oort(pacer_step=2, pacer_delta=20.0), History.empty(np.array(SIZES), N_USERS, 0.05)
    seen = []
    for t in range(1, 12):
        losses = np.full(N_USERS, 1.0 if t < 6 else 50.0)
        told = Feedback(np.arange(N_USERS), np.full(N_USERS, 0.1), np.ones(N_USERS), losses=losses)
        select.observe(told, history)
        history.observe(told)
        seen.append(float(select.percentile))
    # Nobody is exploited in round 1, so rounds 2 and 3 jump, by 20 points at most down to 20. Rounds 4 and 5
    # are as these; 6 and 7 have fifty times as much; 8 and 9, 10 and 11 are as those.
    assert seen == [10.0, 10.0, 20.0, 20.0, 40.0, 40.0, 20.0, 20.0, 40.0, 40.0, 60.0]


def test_a_utility_below_zero_counts_as_the_least() -> None:
    """Noise can make a reported loss negative."""
    select, history = Oort(), History.empty(np.full(N_USERS, 10), 2, 0.05)
    losses = np.array([1.0, -3.0, 2.0, 1.0, 0.5, 1.5, 0.1, -0.3])
    told = Feedback(np.arange(N_USERS), np.full(N_USERS, 0.1), np.ones(N_USERS), losses=losses)
    select.observe(told, history)
    history.observe(told)
    chosen = [set(select(history, np.random.default_rng(seed)).tolist()) for seed in range(200)]
    assert all(len(users) == 2 for users in chosen)
    assert set.union(*chosen) <= {0, 2, 3, 5}


def test_losses_that_are_not_finite_count_as_the_largest() -> None:
    for select in (PowerOfChoice(N_USERS), Oort(utility_cutoff=1.0, staleness_bonus=0.0)):
        history = History.empty(np.full(N_USERS, 10), 2, 0.05)
        losses = np.array([1.0, np.nan, 2.0, np.inf, 0.5, 1.5, 0.1, 0.3])
        told = Feedback(np.arange(N_USERS), np.full(N_USERS, 0.1), np.ones(N_USERS), losses=losses)
        select.observe(told, history)
        history.observe(told)
        assert select(history, np.random.default_rng(0)).tolist() == [1, 3]
