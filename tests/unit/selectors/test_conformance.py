"""What holds for every selector there is: a new line of the registry is checked without a change here.

The checks are functions of a selector's name and a scenario; a selector of a few lines passes them all, and
selectors that break a rule fail the check of that rule.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import sys
import types
from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.latency import LatencyLaw, mean_latencies
from pausefl.bandit.rewards import make_clusters
from pausefl.data.partition import Partition
from pausefl.errors import PauseflError
from pausefl.federated.simulation import Simulation
from pausefl.registry import SELECTORS, SelectorRecord
from pausefl.selectors import Selector, make_selector
from pausefl.settings import RewardSettings, Scenario, SelectionSettings
from pausefl.streams import Streams
from pausefl.training.layout import Layout

Users = NDArray[np.int64]
Check = Callable[[str, Scenario], None]

REWARDS = {
    "r1": RewardSettings(name="r1", alpha=100.0, beta=2.0, gamma=5.0),
    "r2": RewardSettings(
        name="r2", alpha=100.0, beta=2.0, gamma=5.0, n_clusters=4, overlap_penalty=0.01, overlap_latency=0.1
    ),
}
#: What holds the truth of the selectors that are told it.
TRUTH = {"fastest": "mean_latency", "genie": "speeds"}
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


@pytest.fixture
def scenario(request: pytest.FixtureRequest, demo: Scenario) -> Scenario:
    """Twelve users, three selected, and all that any selector needs; reward R1 by default."""
    selection = SelectionSettings(
        exploitation=1.0,
        n_iterations=20,
        temperature_divisor=30.0,
        n_tiers=3,
        deadline=0.5,
        n_candidates=7,
        pacer_step=0.2,
    )
    made = demo.replace(selection=selection, reward=REWARDS[getattr(request, "param", "r1")])
    return changed(made, round_latency_max=1.2)


def start(scenario: Scenario, alike: bool = False) -> History:
    """A history before the first round; users have unequal data unless alike."""
    rng, n_users = np.random.default_rng(0), scenario.network.n_users
    sizes = np.full(n_users, 50) if alike else rng.permutation(np.arange(40, 40 + 7 * n_users, 7))
    quality = np.ones(n_users) if alike else rng.uniform(0.2, 1, n_users)
    clusters = make_clusters(scenario.reward, n_users, Streams(0))
    network = scenario.network
    return History.empty(sizes, network.n_selected, network.latency_floor, quality, clusters)


def changed(scenario: Scenario, **network: float) -> Scenario:
    """The scenario in another network."""
    return scenario.replace(network=scenario.network.replace(**network))


def all_equal(scenario: Scenario) -> dict[str, float]:
    """A latency law that is the same for all users."""
    means = ("fast_latency_max", "slow_latency_min", "slow_latency_max")
    return dict.fromkeys(means, scenario.network.latency_floor)


def feedback(name: str, scenario: Scenario, history: History, users: Users, seed: int = 0) -> Feedback:
    """What a round of these users reveals."""
    rng = Streams(seed).generator("feedback", round=history.round)
    latency = LatencyLaw(scenario.network, Streams(seed)).sample(history.round)[users]
    privacy = history.privacy.copy()
    privacy[users] *= rng.uniform(0.8, 0.95, len(users))
    record, latency = SELECTORS[name], np.minimum(latency, scenario.network.round_latency_max or np.inf)
    updates = rng.normal(size=(len(users), 5)).astype(np.float32) if record.needs_updates else None
    losses = rng.exponential(size=len(users)) if record.needs_losses else None
    return Feedback(users, latency, privacy, updates, losses)


def simulate(
    name: str, scenario: Scenario, select: Selector, history: History, n_rounds: int, seed: int = 0
) -> list[list[int]]:
    """Rounds of a selector that learns from them; returns its choices."""
    made = []
    for _ in range(n_rounds):
        drawn = select(history, Streams(seed).generator("select", round=history.round))
        made.append(drawn.tolist())
        seen = feedback(name, scenario, history, np.unique(drawn), seed)
        select.observe(seen, history)
        history.observe(seen)
    return made


def counts(select: Selector, history: History, n_streams: int, first: int = 0) -> Users:
    """How often each user was chosen on each of some streams, (n_streams, K)."""
    n_users = len(history.data_size)
    choices = [select(history, np.random.default_rng(first + seed)) for seed in range(n_streams)]
    return np.array([np.bincount(users, minlength=n_users) for users in choices])


def together(made: Users) -> Users:
    """How often each pair of users (K (K - 1) / 2,) was chosen together, of `counts`."""
    chosen = (made > 0).astype(np.int64)
    return (chosen.T @ chosen)[np.triu_indices(made.shape[1], 1)]


def assert_alike(ours: Users, theirs: Users) -> None:
    """Two samples of counts have one distribution."""
    frequencies = np.array([ours, theirs])
    frequencies = frequencies[:, frequencies.any(axis=0)]
    assert stats.chi2_contingency(frequencies).pvalue > 1e-6


def assert_same(one: object, other: object) -> None:
    """Two histories or feedbacks are equal to the last bit."""
    for field in dataclasses.fields(one):  # type: ignore[arg-type]
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name))


def is_everyone(name: str) -> bool:
    return SELECTORS[name].takes_everyone


@check
def takes_as_many_of_the_available_users_as_it_should(name: str, scenario: Scenario) -> None:
    history, select, rng = start(scenario), make_selector(name, scenario), np.random.default_rng(2)
    n_users, m = len(history.data_size), history.n_selected
    for t in range(40):
        if t > 8:
            history.available = np.isin(
                np.arange(n_users), rng.permutation(n_users)[: rng.integers(m, n_users + 1)]
            )
        users = select(history, rng)
        assert users.dtype == np.int64
        if SELECTORS[name].own_number:
            assert 1 <= len(users) <= history.available.sum()
            if "selection.n_candidates" in SELECTORS[name].requires:
                assert len(users) <= scenario.selection.n_candidates  # type: ignore[operator]
        else:
            assert users.shape == ((history.available.sum() if is_everyone(name) else m),)
        assert (np.diff(users) >= (0 if SELECTORS[name].uniform_weights else 1)).all()
        assert history.available[users].all()
        seen = feedback(name, scenario, history, np.unique(users))
        select.observe(seen, history)
        history.observe(seen)


@check
def refuses_to_choose_among_too_few(name: str, scenario: Scenario) -> None:
    history, select = start(scenario), make_selector(name, scenario)
    history.available = np.arange(12) > 9
    with pytest.raises(PauseflError, match="3 users are to be selected, but only 2 of 12 are available"):
        select(history, np.random.default_rng(0))


@check
def is_a_pure_function_of_history_and_stream(name: str, scenario: Scenario) -> None:
    history, select = start(scenario), make_selector(name, scenario)
    for n_rounds in (0, 2, 8):
        simulate(name, scenario, select, history, n_rounds)
        before = copy.deepcopy(history)
        first = select(history, np.random.default_rng(5))
        select(start(scenario), np.random.default_rng(6))  # whatever it is asked in between
        np.testing.assert_array_equal(select(history, np.random.default_rng(5)), first)
        told = feedback(name, scenario, history, np.unique(first))
        told_before = copy.deepcopy(told)
        select.observe(told, history)
        assert_same(history, before)
        assert_same(told, told_before)
        history.observe(told)


@check
def chooses_users_alike_in_everything_equally_often(name: str, scenario: Scenario) -> None:
    scenario = changed(scenario, **all_equal(scenario))
    history, select = start(scenario, alike=True), make_selector(name, scenario)
    record, everyone = SELECTORS[name], np.arange(12)
    updates = np.ones((12, 5), np.float32) if record.needs_updates else None
    losses = np.ones(12) if record.needs_losses else None
    for _ in range(2):
        made = counts(select, history, 400)
        if not is_everyone(name):
            # The standard deviation is at most sqrt(400 * 1/2 * 1/2) = 10.
            assert np.abs(made.sum(axis=0) - made.sum() / 12).max() < 45
            # So are pairs, of one cluster and of two.
            same = history.cluster[np.triu_indices(12, 1)[0]] == history.cluster[np.triu_indices(12, 1)[1]]
            for pairs in (together(made)[same], together(made)[~same]):
                assert not pairs.any() or stats.chisquare(pairs).pvalue > 1e-6
        seen = Feedback(everyone, np.full(12, 0.1), np.full(12, 0.9), updates, losses)
        select.observe(seen, history)
        history.observe(seen)


def renumber(told: Feedback, order: Users) -> Feedback:
    """What a round reveals where user ``order[i]`` is called i."""
    return dataclasses.replace(told, users=np.argsort(order)[told.users], privacy=told.privacy[order])


@check
def does_not_depend_on_user_numbers(name: str, scenario: Scenario) -> None:
    n_streams = 300
    few = scenario.selection.replace(n_iterations=3)  # so that annealing is still random
    scenario = scenario.replace(selection=few)
    equally_fast = changed(scenario, **all_equal(scenario))
    order = np.random.default_rng(3).permutation(12)
    for world, n_rounds, n_available in [(scenario, 0, 9), (scenario, 12, 9), (equally_fast, 1, 12)]:
        here, there = make_selector(name, world), make_selector(name, world)
        if name in TRUTH:
            setattr(there, TRUTH[name], getattr(there, TRUTH[name])[order])
        history, renumbered = start(world), start(world)
        for attribute in ("data_size", "quality", "cluster"):
            setattr(renumbered, attribute, getattr(history, attribute)[order])
        rng = np.random.default_rng(4)
        for t in range(n_rounds):
            users = np.flatnonzero((rng.random(12) < 0.4) | (t == 0))
            told = feedback(name, world, history, users)
            if world is equally_fast:
                told = dataclasses.replace(told, latency=np.full(12, 0.1))
            here.observe(told, history)
            there.observe(renumber(told, order), renumbered)
            history.observe(told)
            renumbered.observe(renumber(told, order))
        history.available = rng.permutation(12) < n_available
        renumbered.available = history.available[order]
        ours = counts(here, history, n_streams)[:, order]
        theirs = counts(there, renumbered, n_streams, first=n_streams)
        if (ours == ours[0]).all():
            np.testing.assert_array_equal(theirs, ours)
        else:
            assert_alike(ours.sum(axis=0), theirs.sum(axis=0))
            assert_alike(together(ours), together(theirs))


@check
def never_sees_the_latency_law(name: str, scenario: Scenario) -> None:
    spread = {"fast_latency_max": 0.6, "slow_latency_max": 5.0, "latency_std": 0.3}
    selectors = [make_selector(name, changed(scenario, **law)) for law in ({}, spread, all_equal(scenario))]
    history = start(scenario)
    for _ in range(15):
        first, *others = (counts(select, history, 10) for select in selectors)
        for other in others:
            np.testing.assert_array_equal(other, first)
        drawn = selectors[0](history, np.random.default_rng(history.round))
        seen = feedback(name, scenario, history, np.unique(drawn))
        for select in selectors:
            select.observe(seen, history)
        history.observe(seen)


@check
def goes_on_from_a_saved_state_as_if_never_stopped(name: str, scenario: Scenario) -> None:
    for n_rounds in (0, 1, 9):
        history, select = start(scenario), make_selector(name, scenario)
        simulate(name, scenario, select, history, n_rounds)
        state = select.state()
        assert list(state) == list(select.remembered)
        file = io.BytesIO()
        np.savez(file, **state)
        file.seek(0)
        loaded = dict(np.load(file, allow_pickle=False))
        for key, values in state.items():
            assert isinstance(values, np.ndarray)
            assert loaded[key].dtype == values.dtype
            np.testing.assert_array_equal(loaded[key], values)
        resumed, resumed_history = make_selector(name, scenario), copy.deepcopy(history)
        resumed.restore(loaded)
        for values in (*state.values(), *loaded.values()):
            values[...] = 0  # nobody looks at the copies any more
        onwards = simulate(name, scenario, select, history, 12)
        assert simulate(name, scenario, resumed, resumed_history, 12) == onwards
        assert_same(resumed_history, history)
        for key, values in select.state().items():
            np.testing.assert_array_equal(resumed.state()[key], values)


@pytest.mark.parametrize("name", SELECTORS)
def test_only_a_selector_that_says_so_looks_at_the_reward(name: str, scenario: Scenario) -> None:
    """Runs of the others are trained once for all rewards."""
    rewards = [
        reward.replace(alpha=alpha, gamma=gamma)
        for reward in REWARDS.values()
        for alpha, gamma in ((100.0, 0.0), (0.0, 5.0), (1.0, 5.0))
    ]
    made = set()
    for reward in rewards:
        one = scenario.replace(reward=reward)
        made.add(str(simulate(name, one, make_selector(name, one), start(one), 40)))
    assert (len(made) > 1) == SELECTORS[name].uses_reward


@pytest.mark.parametrize("checked", CHECKS)
@pytest.mark.parametrize(
    ("name", "scenario"),
    [
        (name, reward)
        for name in SELECTORS
        for reward in REWARDS
        if reward == "r1" or SELECTORS[name].uses_reward
    ],
    indirect=["scenario"],
)
def test_every_selector(name: str, checked: str, scenario: Scenario) -> None:
    if checked == never_sees_the_latency_law.__name__ and name in TRUTH:
        with pytest.raises(AssertionError):
            CHECKS[checked](name, scenario)
    else:
        CHECKS[checked](name, scenario)


def test_only_federated_averaging_without_privacy_is_not_private() -> None:
    assert {name for name, info in SELECTORS.items() if not info.private} == {"fedavg_no_privacy"}


class Rare(Selector):
    """The users who took part least, by its own count."""

    remembered: ClassVar[tuple[str, ...]] = ("count",)

    def __init__(self) -> None:
        self.count = np.zeros(0)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        users = rng.permutation(history.candidates())
        count = self.count if len(self.count) else np.zeros(len(history.data_size))
        return np.sort(users[np.argsort(count[users], kind="stable")[: history.n_selected]])

    def observe(self, feedback: Feedback, history: History) -> None:
        if len(self.count) == 0:
            self.count = np.zeros(len(history.data_size))
        self.count[feedback.users] += 1


class LowestNumbers(Selector):
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        return history.candidates()[: history.n_selected]


class SelectsTheAbsent(Rare):
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        return np.sort(rng.choice(len(history.available), history.n_selected, replace=False))


class CountsItsCalls(Rare):
    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        self.calls = getattr(self, "calls", 0) + 1
        return np.sort(
            np.random.default_rng(self.calls).permutation(history.candidates())[: history.n_selected]
        )


class Forgets(Rare):
    remembered: ClassVar[tuple[str, ...]] = ()


class Peeks(Rare):
    @classmethod
    def build(cls, scenario: Scenario) -> Self:
        made = cls()
        made.truth = mean_latencies(scenario.network)  # type: ignore[attr-defined]
        return made

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        users = history.candidates()
        wait = self.truth[users] * rng.exponential(size=len(users))  # type: ignore[attr-defined]
        return np.sort(users[np.argsort(wait)[: history.n_selected]])


def register(monkeypatch: pytest.MonkeyPatch, cls: type[Selector]) -> str:
    """Do what a new selector does: put a module beside the others and a line into the registry."""
    module = types.ModuleType("pausefl.selectors.new")
    setattr(module, cls.__name__, cls)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(SELECTORS, "new", SelectorRecord(f"{module.__name__}:{cls.__name__}"))
    return "new"


def test_a_new_selector_runs_after_one_line_in_the_registry(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = register(monkeypatch, Rare)
    listed = scenario.replace(selectors=(name,))
    share = Partition(tuple(np.arange(20) for _ in range(12)), np.ones(12), np.arange(0))
    rounds = Simulation(listed, name, Streams(0), share, Layout(5, 5, 5), None).run(8).rounds
    participations = np.bincount(np.concatenate(rounds["selection"].tolist()))
    np.testing.assert_array_equal(participations, np.full(12, 2))


@pytest.mark.parametrize(
    ("cls", "broken"),
    [
        (SelectsTheAbsent, takes_as_many_of_the_available_users_as_it_should),
        (SelectsTheAbsent, refuses_to_choose_among_too_few),
        (CountsItsCalls, is_a_pure_function_of_history_and_stream),
        (LowestNumbers, chooses_users_alike_in_everything_equally_often),
        (LowestNumbers, does_not_depend_on_user_numbers),
        (Peeks, never_sees_the_latency_law),
        (Forgets, goes_on_from_a_saved_state_as_if_never_stopped),
    ],
)
def test_a_selector_that_breaks_a_rule_is_found_out(
    cls: type[Selector], broken: Check, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = register(monkeypatch, cls)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        broken(name, scenario)
