"""Users who are away or do not answer: who is asked, what it costs, and what is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pausefl
from pausefl.bandit.rewards import AverageReward
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


class Drawn:
    """A law that draws what it is given."""

    def __init__(self, drawn: Any) -> None:
        self.drawn = drawn

    def sample(self, streams: Streams, round: int) -> Any:
        return self.drawn(round) if callable(self.drawn) else self.drawn

    def at(self, streams: Streams, round: int, elapsed_s: float) -> Any:
        return self.sample(streams, round)

    def wait(self, elapsed_s: float, users: Any) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("law", "drawn", "words"),
    [
        (
            "availability",
            np.ones(12, np.int64),
            r"availability 'always' drew .* type int64 in round 1: one bool",
        ),
        ("failures", np.zeros(12, np.int64), "failures 'never' drew .* type int64 in round 1: one bool"),
        ("failures", True, r"shape \(\) and type bool in round 1: one bool for each of 12 users"),
        (
            "latency",
            np.full(11, 0.2),
            r"latency 'two_groups' drew shape \(11,\) .*: one float64 for each of 12",
        ),
        ("latency", np.r_[[0.2] * 11, -1], r"drew -1\.0 s for user 11 in round 1"),
        ("latency", np.r_[[0.2] * 11, np.nan], "drew nan s for user 11 in round 1"),
        ("latency", lambda round: 1 // 0, "failed in round 1: test_world.py, line .*ZeroDivisionError"),
    ],
)
def test_what_a_law_draws_is_checked(demo: Scenario, law: str, drawn: Any, words: str) -> None:
    simulation = selection_only(demo, "pause", 0)
    setattr(simulation, law, Drawn(drawn))
    with pytest.raises(ConfigError, match=words):
        simulation.run(1)


def test_less_than_the_least_latency_counts_as_it(demo: Scenario) -> None:
    simulation = selection_only(demo, "pause", 0)
    simulation.latency = Drawn(np.full(12, 0.001))  # type: ignore[assignment]
    assert simulation.run(2).rounds["latency_s"].tolist() == [demo.network.latency_floor] * 2


class Worth(AverageReward):
    """R1 with another number of costs, or a delay that no round can have."""

    def costs(self, n_selected: int) -> Any:
        return np.zeros(1) if self.beta == 2 else super().costs(n_selected)

    def delay(self, history: Any, selection: Any) -> float:
        return -1.0


@pytest.mark.parametrize(
    ("selector", "beta", "words"),
    [
        ("pause", 2, "needs 3 costs and clusters from 0, and has 1 costs"),
        ("random", 2, "reward '.*' failed in round 1: .*IndexError"),
        ("random", 3, "and a delay of -1.0 s in round 1"),
    ],
)
def test_what_a_reward_gives_is_checked(demo: Scenario, selector: str, beta: float, words: str) -> None:
    key = {"reward.name": f"{__name__}:Worth", "reward.beta": beta}
    with pytest.raises(ConfigError, match=words):
        selection_only(pausefl.change(demo, key), selector, 0).run(1)


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
        (
            {"availability": "daily", "availability_share": 0.1, "day_rounds": 5},
            "availability_share = 0.1 of network.day_rounds = 5 is less than a round",
        ),
        ({"availability": "nightly"}, "availability = 'nightly' is not known. Allowed: always, daily"),
        ({"latency": "drift"}, "latency = 'drift' needs network.swap_round"),
        ({"latency_std": None}, "latency = 'two_groups' needs network.latency_std"),
    ],
)
def test_a_world_that_cannot_be_is_refused(demo: Scenario, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        world(demo, **changes)
