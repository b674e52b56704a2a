"""Users who are away or do not answer: who is asked, what it costs, and what is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pausefl
from pausefl.errors import ConfigError
from pausefl.federated.untrained import selection_only
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.testing.contract import SELECTION as NEEDED


def world(demo: Scenario, **network: Any) -> Scenario:
    return demo.replace(network=demo.network.replace(**network))


def test_only_users_who_are_there_are_asked_the_same_for_every_selector(demo: Scenario) -> None:
    away = world(demo, availability="random", availability_share=0.5)
    present = away.network.make_availability()
    for selector in ("pause", "random", "fedavg"):
        rounds = selection_only(away, selector, 2).run(60).rounds
        for t, users in enumerate(rounds["selection"], start=1):
            there = present.sample(Streams(2), t)
            assert there[users].all()
            assert len(users) == (there.sum() if selector == "fedavg" else min(3, there.sum()))


def test_a_selector_learns_who_was_there_also_in_rounds_of_fewer_than_it_asks(demo: Scenario) -> None:
    class Looks(pausefl.Selector):
        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            return history.candidates()[: history.n_selected]

        def observe(self, feedback: pausefl.Feedback, history: pausefl.History) -> None:
            there = np.count_nonzero(history.available)
            assert len(feedback.users) == min(there, history.n_selected)

    few = world(demo, availability="random", availability_share=0.2)
    rounds = pausefl.run(few, Looks, n_rounds=40, train=False, progress=False).rounds
    assert {0, 1, 2, 3} == set(map(len, rounds["selection"]))


def test_in_a_day_each_user_is_there_for_one_stretch(demo: Scenario) -> None:
    daily = world(demo, availability="daily", availability_share=0.25, day_rounds=40).network
    there = np.array([daily.make_availability().sample(Streams(0), t) for t in range(1, 121)])
    np.testing.assert_array_equal(there.sum(axis=0), 30)
    np.testing.assert_array_equal(there[:40], there[40:80])
    assert (np.diff(there[:80].astype(int), axis=0) == 1).sum(axis=0).max() <= 2
    assert len(np.unique(there.argmax(axis=0))) > 4  # days begin at different rounds


def test_a_round_with_a_failure_lasts_as_long_as_the_timeout_and_budgets_are_spent(demo: Scenario) -> None:
    failing = world(demo, failures="random", failure_rate=0.2, round_latency_max=1.5)
    simulation = selection_only(failing, "random", 1)
    rounds = simulation.run(80).rounds
    law = failing.network.make_failures()
    failed = np.array(
        [law.sample(Streams(1), t)[users].any() for t, users in enumerate(rounds["selection"], 1)]
    )
    assert 20 < failed.sum() < 60
    np.testing.assert_array_equal(rounds["latency_s"][failed], 1.5)
    assert rounds["latency_s"][~failed].max() < 1.5
    assert simulation.ledger.participations.sum() == 3 * 80


def test_whoever_does_not_answer_changes_no_model(demo: Scenario) -> None:
    """With everyone asked and a rate of failures, the aggregate is of those who answered."""
    failing = world(demo, failures="random", failure_rate=0.5, round_latency_max=1.5).replace(privacy=None)
    some = pausefl.run(failing, "fedavg_no_privacy", 0, n_rounds=3, progress=False)
    everyone = pausefl.run(demo.replace(privacy=None), "fedavg_no_privacy", 0, n_rounds=3, progress=False)
    assert (some.rounds["loss"] != everyone.rounds["loss"]).all()
    assert some.rounds["loss"].iloc[-1] < some.rounds["loss"].iloc[0]
    nobody = world(demo, failures="random", failure_rate=1 - 1e-9, round_latency_max=1.5)
    still = pausefl.run(nobody, "pause", 0, n_rounds=3, progress=False).rounds
    assert still["loss"].nunique() == 1
    assert still["elapsed_s"].tolist() == [1.5, 3.0, 4.5]


@pytest.mark.parametrize("selector", ["oort", "power_of_choice", "clustered_similarity", "tifl", "cs_ucb_q"])
def test_selectors_that_look_at_answers_run_with_failures(demo: Scenario, selector: str) -> None:
    failing = world(demo, failures="random", failure_rate=0.4, round_latency_max=1.5)
    failing = failing.replace(selection=failing.selection.replace(**NEEDED))
    rounds = pausefl.run(failing, selector, 0, n_rounds=12, progress=False).rounds
    assert rounds["accuracy"].iloc[-1] > rounds["accuracy"].iloc[0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"failures": "random", "failure_rate": 0.1}, "needs network.round_latency_max"),
        ({"failures": "random", "round_latency_max": 1.5}, "failures = 'random' needs network.failure_rate"),
        ({"round_latency_max": 0.01}, "max = 0.01 is below network.latency_floor = 0.05: no user answers so"),
        ({"failure_rate": 0.1}, "failure_rate is for failures 'random', and network.failures is 'never'"),
        ({"availability": "daily", "availability_share": 0.5}, "needs network.day_rounds"),
        ({"availability": "nightly"}, "availability = 'nightly' is not known. Allowed: always, daily"),
        ({"latency": "drift"}, "latency = 'drift' needs network.swap_round"),
        ({"latency_std": None}, "latency = 'two_groups' needs network.latency_std"),
    ],
)
def test_a_world_that_cannot_be_is_refused(demo: Scenario, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        world(demo, **changes)
