"""More users asked than are needed: when a round ends, who counts, and what everyone spends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
from scenarios import changed

import pausefl
from pausefl.bandit.history import Feedback, History
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError
from pausefl.federated.simulation import Simulation
from pausefl.federated.untrained import selection_only
from pausefl.selectors import Selector
from pausefl.selectors.settings import asked_in_a_round
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.training.engine import Trainer
from pausefl.training.sizes import model_layout


@pytest.mark.parametrize(
    ("m", "share", "asked"),
    [
        (3, None, 3),
        (3, 0.0, 3),
        (3, 0.34, 5),
        (3, 1 / 3, 4),
        (10, 0.1, 11),
        (15, 0.2, 18),
        (10, 0.3, 13),
        (1, 10, 11),
    ],
)
def test_so_many_are_asked(m: int, share: float | None, asked: int) -> None:
    assert asked_in_a_round(m, share) == asked


def over(demo: Scenario, share: float | None, **network: Any) -> Scenario:
    return changed(demo, network=network, selection={"over_selection": share})


class Law:
    """What is drawn of each user, the same in every round."""

    def __init__(self, drawn: Any) -> None:
        self.drawn = np.asarray(drawn)

    def sample(self, streams: Streams, round: int) -> Any:
        return self.drawn


class Fixed(Selector):
    """Always the same users; keeps what it was told."""

    def __init__(self, *users: int) -> None:
        self.users, self.told = np.array(users), list[Feedback]()

    def __call__(self, history: History, rng: np.random.Generator) -> Any:
        assert history.n_selected == len(self.users) or not len(self.told)
        return self.users

    def observe(self, feedback: Feedback, history: History) -> None:
        self.told.append(feedback)


def a_round(
    scenario: Scenario, users: tuple[int, ...], seconds: dict[int, float], fails: tuple[int, ...] = ()
) -> tuple[Simulation, Feedback, pd.Series]:
    """One round in which given users are asked and take so long, and what the selector is told."""
    simulation = selection_only(scenario, "random", 0)
    simulation.select = Fixed(*users)
    simulation.latency = Law([seconds.get(user, 0.9) for user in range(12)])  # type: ignore[assignment]
    simulation.failures = Law([user in fails for user in range(12)])  # type: ignore[assignment]
    row = simulation.run(1).rounds.iloc[0]
    return simulation, simulation.select.told[0], row


def test_the_round_ends_when_enough_have_answered(demo: Scenario) -> None:
    seconds = {1: 0.5, 4: 0.2, 6: 0.8, 7: 0.3, 9: 0.4}
    simulation, told, row = a_round(over(demo, 0.5), (1, 4, 6, 7, 9), seconds)
    assert row["latency_s"] == row["elapsed_s"] == 0.4  # the third to answer
    assert told.senders.tolist() == [4, 7, 9]
    assert told.latency.tolist() == [0.5, 0.2, 0.8, 0.3, 0.4]
    # The late ones took part: of their budget, and in the history.
    assert np.flatnonzero(simulation.ledger.participations).tolist() == [1, 4, 6, 7, 9]
    assert simulation.history.mean_latency[[1, 6]].tolist() == [0.5, 0.8]
    assert row["selection"].tolist() == [1, 4, 6, 7, 9]
    only = simulation.reward.value(
        selection_only(over(demo, 0.5), "random", 0).history,
        np.array([4, 7, 9]),
        0.05 / np.array([0.2, 0.3, 0.4]),
    )
    assert row["reward"] == pytest.approx(only)


@pytest.mark.parametrize(
    ("seconds", "fails", "lasts", "senders"),
    [
        ({1: 0.5, 4: 0.2, 6: 0.8, 7: 0.3, 9: 0.4}, (4,), 0.5, [1, 7, 9]),  # another one is in time
        ({1: 0.5, 4: 0.2, 6: 0.8, 7: 0.3, 9: 0.4}, (4, 7, 9), 1.5, [1, 6]),  # too few: until the timeout
        ({1: 2.0, 4: 0.2, 6: 7.0, 7: 0.3, 9: 1.5}, (), 1.5, [4, 7]),  # at the timeout is too late
        ({1: 2.0, 4: 2.0, 6: 7.0, 7: 2.0, 9: 1.5}, (), 1.5, []),
        ({1: 0.3, 4: 0.3, 6: 0.3, 7: 0.3, 9: 0.4}, (), 0.3, [1, 4, 6, 7]),  # in the same moment
    ],
)
def test_with_failures_and_a_timeout(
    demo: Scenario, seconds: dict[int, float], fails: tuple[int, ...], lasts: float, senders: list[int]
) -> None:
    world = over(demo, 0.5, failures="random", failure_rate=0.1, round_latency_max=1.5)
    simulation, told, row = a_round(world, (1, 4, 6, 7, 9), seconds, fails)
    assert row["latency_s"] == lasts
    assert told.senders.tolist() == senders
    expected = [1.5 if user in fails else min(seconds[user], 1.5) for user in (1, 4, 6, 7, 9)]
    assert told.latency.tolist() == expected
    assert simulation.ledger.participations.sum() == 5
    assert np.isnan(row["reward"]) == (not senders)


def test_fewer_than_are_needed_are_waited_for(demo: Scenario) -> None:
    """Where only two can be asked, the round ends when both have answered."""
    few = over(demo, 0.5, availability="random", availability_share=0.2)
    simulation = selection_only(few, "random", 1)
    rounds = simulation.run(40).rounds
    law = few.network.make_latency()
    for t, row in enumerate(rounds.itertuples(), 1):
        took = np.sort(law.sample(Streams(1), t)[row.selection])
        assert len(row.selection) <= 5
        assert row.latency_s == pytest.approx(took[:3].max(initial=0.0))


def test_without_it_all_answers_count_however_late(demo: Scenario) -> None:
    seconds = {1: 0.5, 4: 0.2, 6: 2.8}
    _, told, row = a_round(over(demo, None), (1, 4, 6), seconds)
    assert row["latency_s"] == 2.8
    assert told.senders.tolist() == [1, 4, 6]
    _, told, row = a_round(over(demo, None, round_latency_max=1.5), (1, 4, 6), seconds)
    assert (row["latency_s"], told.senders.tolist()) == (1.5, [1, 4, 6])
    _, told, row = a_round(over(demo, 0.0, round_latency_max=1.5), (1, 4, 6), seconds)
    assert (row["latency_s"], told.senders.tolist()) == (1.5, [1, 4])


@pytest.mark.parametrize("selector", ["pause", "sweep", "random"])
def test_none_is_as_in_the_papers(demo: Scenario, selector: str) -> None:
    """And so is a share of 0 where nobody is late."""
    made = [selection_only(over(demo, share), selector, 2).run(30).rounds for share in (None, 0.0)]
    pd.testing.assert_frame_equal(*made)
    law = demo.network.make_latency()
    slowest = [law.sample(Streams(2), t)[users].max() for t, users in enumerate(made[0]["selection"], 1)]
    np.testing.assert_allclose(made[0]["latency_s"], slowest)


class Sees(Selector):
    """Five users at random; notes how many updates it sees of whom."""

    needs_updates: ClassVar[bool] = True
    seen: ClassVar[list[tuple[int, list[int]]]] = []

    def __call__(self, history: History, rng: np.random.Generator) -> Any:
        return np.sort(rng.choice(history.candidates(), history.n_selected, replace=False))

    def observe(self, feedback: Feedback, history: History) -> None:
        assert feedback.updates is not None
        fastest = feedback.users[np.argsort(feedback.latency)[:3]]
        self.seen.append((len(feedback.updates), sorted(set(fastest) ^ set(feedback.senders))))


def test_a_selector_sees_the_updates_in_time_alone(demo: Scenario) -> None:
    Sees.seen.clear()
    pausefl.run(over(demo, 0.5), Sees, n_rounds=6, progress=False)
    assert Sees.seen == [(3, [])] * 6


def test_a_late_update_is_dropped(
    demo: Scenario, digits: Dataset, share_out: Callable[..., Partition]
) -> None:
    """The model is that of the three who were in time, as if they alone had been asked."""

    def trained(scenario: Scenario, *users: int) -> Any:
        scenario, streams = scenario.replace(privacy=None), Streams(0)
        share, cpu = share_out(scenario), torch.device("cpu")
        trainer = Trainer(scenario.model, scenario.training, digits, share, streams, cpu)
        layout = model_layout(scenario.model, digits)
        simulation = Simulation(scenario, "random", streams, share, layout, trainer)
        simulation.select = Fixed(*users)
        seconds = dict(zip((1, 4, 6, 7, 9), (0.5, 0.2, 0.8, 0.3, 0.4), strict=True))
        simulation.latency = Law([seconds.get(user, 0.9) for user in range(12)])  # type: ignore[assignment]
        return simulation.run(2), simulation.theta

    five, theta = trained(over(demo, 0.5), 1, 4, 6, 7, 9)
    three, alone = trained(over(demo, None), 4, 7, 9)
    np.testing.assert_array_equal(theta, alone)
    assert five.rounds["elapsed_s"].tolist() == three.rounds["elapsed_s"].tolist() == [0.4, 0.8]
    assert five.ledger["participations"].sum() == 10


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (-0.1, r"over_selection = -0\.1 must be"),
        (11, "over_selection = 11 must be"),
        ("many", "over_selection = 'many' must be"),
        (3.1, r"over_selection = 3\.1 asks 13 users in a round, more than the 12 there are"),
    ],
)
def test_a_share_that_cannot_be_is_refused(demo: Scenario, share: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        over(demo, share)


def test_everyone_may_be_asked(demo: Scenario) -> None:
    rounds = selection_only(over(demo, 3.0), "pause", 0).run(2).rounds
    assert [len(users) for users in rounds["selection"]] == [12, 12]


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (
            {"n_tiers": 4},
            r"tiers of 3 users, fewer than the 5 users whom selection\.over_selection = 0\.5 asks",
        ),
        ({"n_candidates": 4}, r"n_candidates = 4 must lie in 5 \.\. 12"),
    ],
)
def test_tiers_and_candidates_must_have_as_many(
    demo: Scenario, selection: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        changed(demo, selection={"over_selection": 0.5, **selection})
