"""What every selector must do, one test a rule. All run on made-up histories of twelve users."""

from __future__ import annotations

import copy
import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.plugins import arguments
from pausefl.selectors import SELECTORS, Selector
from pausefl.selectors.making import Checked, fault
from pausefl.settings import SHIPPED, Scenario, home, load_scenario
from pausefl.settings.dotted_keys import with_values
from pausefl.streams import Streams

Users = NDArray[np.int64]

#: What some selector needs, and the second reward; the first is that of the demo.
SELECTION = {"n_iterations": 20, "n_tiers": 3, "deadline": 0.5, "n_candidates": 7, "pacer_step": 3}
R2 = {"name": "r2", "n_clusters": 4, "overlap_penalty": 0.01, "overlap_latency": 0.1}
REWARDS: dict[str, dict[str, Any]] = {"r1": {}, "r2": {f"reward.{key}": value for key, value in R2.items()}}
#: Other laws of the latencies: one more spread out, and one that is the same for all users.
SPREAD = {"network.fast_latency_max": 0.6, "network.slow_latency_max": 5.0, "network.latency_std": 0.3}
MEANS = ("network.fast_latency_max", "network.slow_latency_min", "network.slow_latency_max")
EQUALLY_FAST = dict.fromkeys(MEANS, 0.05)
#: What holds the truth of the selectors that are told it.
TRUTH = {"fastest": "mean_latency", "genie": "speeds"}
PAIRS = np.triu_indices(12, 1)


class SelectorContract:
    """The rules; selectors that look at the reward must keep them under R1 and under R2."""

    #: ``MODULE:CLASS`` or a name of pausefl's; several are tested one by one.
    selector: ClassVar[str | Sequence[str]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each rule for each selector and reward."""
        names = [self.selector] if isinstance(self.selector, str) else self.selector
        try:
            rewards = {name: REWARDS if SELECTORS.find(name).uses_reward else ["r1"] for name in names}
        except PauseflError as error:
            raise pytest.Collector.CollectError(str(error)) from None
        if "scenario" in metafunc.fixturenames:
            cases = {f"{name}-{one}": (name, world(one)) for name in names for one in rewards[name]}
            metafunc.parametrize(("name", "scenario"), cases.values(), ids=cases)
        elif "name" in metafunc.fixturenames:
            metafunc.parametrize("name", names)

    def test_takes_as_many_of_the_available_users_as_it_should(self, name: str, scenario: Scenario) -> None:
        """It returns the ids of m of the available users, each once and ascending, in an int64 array."""
        history, select, rng = start(scenario), itself(name, scenario), np.random.default_rng(2)
        facts = SELECTORS[name]
        for t in range(40):
            if t > 8:
                history.available = np.isin(np.arange(12), rng.permutation(12)[: rng.integers(3, 13)])
            users = select(history, rng)
            wrong = fault(users, history, facts)
            assert not wrong, f"it returned {wrong} in round {history.round}"
            if facts.own_number and "n_candidates" in arguments(facts):
                assert len(users) <= (scenario.selection.n_candidates or 0), "more than were drawn"
            observe(select, feedback(name, scenario, history, np.unique(users)), history)

    def test_refuses_to_choose_among_too_few(self, name: str, scenario: Scenario) -> None:
        """It takes users from ``history.candidates()``, which refuses if fewer than m are available."""
        history, select = start(scenario), itself(name, scenario)
        history.available = np.arange(12) > 9
        with pytest.raises(PauseflError, match="3 users are to be selected, but only 2 of 12"):
            select(history, np.random.default_rng(0))

    def test_is_a_pure_function_of_history_and_stream(self, name: str, scenario: Scenario) -> None:
        """A call changes nothing: the same history and stream give the same users."""
        history, select = start(scenario), itself(name, scenario)
        for n_rounds in (0, 2, 8):
            simulate(name, scenario, select, history, n_rounds)
            before = copy.deepcopy(history)
            first = select(history, np.random.default_rng(5))
            select(start(scenario), np.random.default_rng(6))  # whatever it is asked in between
            again = select(history, np.random.default_rng(5))
            assert again.tolist() == first.tolist(), "asked again, it selects other users"
            told = feedback(name, scenario, history, np.unique(first))
            told_before = copy.deepcopy(told)
            select.observe(told, history)
            must_equal(vars(history), vars(before), "it changes the history")
            must_equal(vars(told), vars(told_before), "observe changes the feedback")
            history.observe(told)

    def test_chooses_users_alike_in_everything_equally_often(self, name: str, scenario: Scenario) -> None:
        """Users alike in everything, and pairs of them, are selected equally often."""
        scenario = changed(scenario, EQUALLY_FAST)
        history, select = start(scenario, alike=True), itself(name, scenario)
        one, other = history.cluster[np.array(PAIRS)]
        for _ in range(2):
            made = counts(select, history, 400)
            if not SELECTORS[name].takes_everyone:
                each = made.sum(axis=0)  # its standard deviation is at most sqrt(400 * 1/2 * 1/2) = 10
                far = np.abs(each - each.mean()).max()
                assert far < 45, f"alike, they are selected {each} times; the stream must break ties"
                # So are pairs, of one cluster and of two.
                for pairs in (together(made)[one == other], together(made)[one != other]):
                    if pairs.any():
                        assert may_be(pairs, pairs.mean()), f"alike, pairs are selected {pairs} times"
            updates, losses = np.ones((12, 5), np.float32), np.ones(12)
            seen = Feedback(np.arange(12), np.full(12, 0.1), np.full(12, 0.9), updates, losses)
            observe(select, seen, history)

    def test_does_not_depend_on_user_numbers(self, name: str, scenario: Scenario) -> None:
        """With other ids, the same users are selected as often."""
        scenario = changed(scenario, {"selection.n_iterations": 3})  # so that annealing is still random
        equally_fast = changed(scenario, EQUALLY_FAST)
        order = np.random.default_rng(3).permutation(12)
        for place, n_rounds, n_available in [(scenario, 0, 9), (scenario, 12, 9), (equally_fast, 1, 12)]:
            here, renamed = itself(name, place), itself(name, place)
            if name in TRUTH:
                setattr(renamed, TRUTH[name], getattr(renamed, TRUTH[name])[order])
            history, renumbered = start(place), start(place)
            for attribute in ("data_size", "quality", "cluster", "losses"):
                setattr(renumbered, attribute, getattr(history, attribute)[order])
            rng = np.random.default_rng(4)
            for t in range(n_rounds):
                users = np.flatnonzero((rng.random(12) < 0.4) | (t == 0))
                told = feedback(name, place, history, users)
                if place is equally_fast:
                    told = dataclasses.replace(told, latency=np.full(12, 0.1))
                # User order[i] is called i there.
                ids, privacy = np.argsort(order)[told.users], told.privacy[order]
                observe(here, told, history)
                observe(renamed, dataclasses.replace(told, users=ids, privacy=privacy), renumbered)
            history.available = rng.permutation(12) < n_available
            renumbered.available = history.available[order]
            ours, theirs = counts(here, history, 300)[:, order], counts(renamed, renumbered, 300, first=300)
            otherwise = "renumbered, it selects other users; ids must not break ties"
            if (ours == ours[0]).all():
                assert np.array_equal(theirs, ours), otherwise  # of lists pytest would show all, for minutes
            else:
                assert are_alike(ours.sum(axis=0), theirs.sum(axis=0)), otherwise
                assert are_alike(together(ours), together(theirs)), otherwise

    def test_never_sees_the_latency_law(self, name: str, scenario: Scenario) -> None:
        """It knows latencies from the history alone, not from the settings of the network."""
        if name in TRUTH:
            pytest.skip("it is told the truth")
        selectors = [itself(name, changed(scenario, law)) for law in ({}, SPREAD, EQUALLY_FAST)]
        history = start(scenario)
        for _ in range(15):
            first, *others = (counts(select, history, 10) for select in selectors)
            same = [np.array_equal(one, first) for one in others]
            assert all(same), "in a network of other latencies it selects other users"
            drawn = selectors[0](history, np.random.default_rng(history.round))
            seen = feedback(name, scenario, history, np.unique(drawn))
            for select in selectors:
                select.observe(seen, history)
            history.observe(seen)

    def test_goes_on_from_a_saved_state_as_if_never_stopped(self, name: str, scenario: Scenario) -> None:
        """A resumed run goes on as if never stopped; what a selector remembers, ``remembered`` names."""
        for n_rounds in (0, 1, 9):
            history, select = start(scenario), itself(name, scenario)
            simulate(name, scenario, select, history, n_rounds)
            state = select.state()
            assert list(state) == list(select.remembered), "state() has other names than 'remembered'"
            assert all(isinstance(values, np.ndarray) for values in state.values()), "not all are arrays"
            file = io.BytesIO()
            np.savez(file, **state)  # type: ignore[arg-type]
            file.seek(0)
            loaded = dict(np.load(file, allow_pickle=False))
            resumed, resumed_history = itself(name, scenario), copy.deepcopy(history)
            resumed.restore(loaded)
            for values in (*state.values(), *loaded.values()):
                values[...] = 0  # nobody looks at the copies any more
            onwards = simulate(name, scenario, select, history, 12)
            again = simulate(name, scenario, resumed, resumed_history, 12)
            assert again == onwards, f"stopped after round {n_rounds}, it then selects other users"
            must_equal(vars(resumed_history), vars(history), "it changes the history")
            must_equal(resumed.state(), select.state(), "it then remembers something else")

    def test_asks_a_user_who_never_answers_no_more_than_others(self, name: str, scenario: Scenario) -> None:
        """A user who was asked and did not answer took part; it is not asked again for lack of an answer."""
        if name in TRUTH:
            pytest.skip("it is told the truth")
        history, select, asked = start(scenario, alike=True), itself(name, scenario), np.zeros(12)
        for _ in range(200):
            users = np.unique(select(history, Streams(0).generator("asked", round=history.round)))
            asked[users] += 1
            seen, answered = feedback(name, scenario, history, users), users != 5
            latency = np.where(answered, seen.latency, 1.2)
            given = {key: getattr(seen, key) for key in ("updates", "losses")}
            given = {key: None if all_ is None else all_[answered] for key, all_ in given.items()}
            told = dataclasses.replace(seen, latency=latency, answered=answered, **given)
            observe(select, told, history)
        fair = asked.sum() / 12
        assert asked[5] <= fair + 3 * np.sqrt(fair), f"it asked that user {asked[5]:g} times, others {asked}"

    def test_says_whether_it_looks_at_the_reward(self, name: str) -> None:
        """It looks at the reward if it says so (``uses_reward``), and only then."""
        weights = [{"reward.gamma": 0}, {"reward.alpha": 0}, {"reward.alpha": 1}]
        scenarios = [changed(world(reward), one) for reward in REWARDS for one in weights]
        made = {str(simulate(name, one, itself(name, one), start(one), 40)) for one in scenarios}
        looks = len(made) > 1
        assert looks == SELECTORS[name].uses_reward, "uses_reward must say whether it looks at the reward"


def changed(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    """The scenario with other values of some keys."""
    return with_values(scenario, values, "the contract of selectors")


def world(reward: str = "r1") -> Scenario:
    """Twelve users, three selected, and all that any selector needs."""
    needed = {f"selection.{key}": value for key, value in SELECTION.items()}
    demo = load_scenario("demo_small", home() / SHIPPED)
    return changed(demo, {"network.round_latency_max": 1.2} | needed | REWARDS[reward])


def itself(name: str, scenario: Scenario) -> Selector:
    """The selector for a scenario, without what watches over one of a user's own in a run."""
    made = scenario.make_selector(name)
    return made.given if isinstance(made, Checked) else made


def start(scenario: Scenario, alike: bool = False) -> History:
    """A history before the first round; users have unequal data, and losses, unless alike."""
    rng, clusters = np.random.default_rng(0), scenario.reward.make_clusters(12, Streams(0))
    sizes = np.full(12, 50) if alike else rng.permutation(np.arange(40, 124, 7))
    quality = np.ones(12) if alike else rng.uniform(0.2, 1, 12)
    history = History.empty(sizes, 3, scenario.network.latency_floor, quality, clusters)
    history.losses = np.ones(12) if alike else rng.exponential(size=12)
    return history


def feedback(name: str, scenario: Scenario, history: History, users: Users) -> Feedback:
    """What a round of these users reveals."""
    rng, facts = Streams(0).generator("feedback", round=history.round), SELECTORS[name]
    latency = scenario.network.make_latency().sample(Streams(0), history.round)[users]
    privacy = history.privacy.copy()
    privacy[users] *= rng.uniform(0.8, 0.95, len(users))
    updates = rng.normal(size=(len(users), 5)).astype(np.float32) if facts.needs_updates else None
    losses = rng.exponential(size=len(users)) if facts.needs_losses else None
    return Feedback(users, np.minimum(latency, 1.2), privacy, updates, losses)


def observe(select: Selector, seen: Feedback, history: History) -> None:
    """End a round."""
    select.observe(seen, history)
    history.observe(seen)


def simulate(name: str, scenario: Scenario, select: Selector, history: History, n_rounds: int) -> list[Any]:
    """Rounds of a selector that learns from them; returns its choices."""
    made = []
    for _ in range(n_rounds):
        drawn = select(history, Streams(0).generator("select", round=history.round))
        made.append(drawn.tolist())
        observe(select, feedback(name, scenario, history, np.unique(drawn)), history)
    return made


def counts(select: Selector, history: History, n_streams: int, first: int = 0) -> Users:
    """How often each user is chosen on each of some streams, (n_streams, 12)."""
    choices = [select(history, np.random.default_rng(first + seed)) for seed in range(n_streams)]
    return np.array([np.bincount(users, minlength=12) for users in choices])


def together(made: Users) -> Users:
    """How often each of the 66 pairs of users is chosen together, of `counts`."""
    chosen = (made > 0).astype(np.int64)
    return (chosen.T @ chosen)[PAIRS]


def may_be(counted: Users, expected: Any) -> bool:
    """Whether counts may be as expected: a chi-square test, which errs once in a million times."""
    distance, freedom = ((counted - expected) ** 2 / expected).sum(), counted.shape[-1] - 1
    halves = torch.tensor([freedom, distance], dtype=torch.float64) / 2  # SciPy may not be installed
    return not freedom or bool(torch.special.gammaincc(*halves) > 1e-6)


def are_alike(ours: Users, theirs: Users) -> bool:
    """Whether two samples of counts may have one distribution."""
    table = np.array([ours, theirs])
    table = table[:, table.any(axis=0)]
    return may_be(table, np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum())


def must_equal(found: Mapping[str, Any], wanted: Mapping[str, Any], otherwise: str) -> None:
    """Assert that two histories, feedbacks or states are equal to the last bit."""
    assert list(found) == list(wanted), otherwise
    for key, values in found.items():
        np.testing.assert_array_equal(values, wanted[key], f"{otherwise}: {key}", strict=True)
