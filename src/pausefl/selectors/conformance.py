"""What every selector must do, as checks of one selector: ``pausefl check --selector NAME`` runs them all."""

from __future__ import annotations

import copy
import dataclasses
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.bandit.latency import LatencyLaw
from pausefl.bandit.rewards import make_clusters
from pausefl.errors import PauseflError
from pausefl.registry import SELECTORS
from pausefl.registry.base import Record
from pausefl.selectors import Selector
from pausefl.selectors.own import fault, users_line
from pausefl.settings import SHIPPED, RewardSettings, Scenario, SelectionSettings, home, load_scenario
from pausefl.streams import Streams

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
#: By name; the docstring says what must hold.
CHECKS: dict[str, Check] = {}
#: Less likely than this, two samples do not have one distribution.
_UNLIKELY = 1e-6


class RuleError(AssertionError):
    """A selector does not do what it must; the text says what it did."""


def check(function: Check) -> Check:
    """Register a check."""
    CHECKS[function.__name__] = function
    return function


def checked(name: str) -> Iterator[tuple[str, str]]:
    """Yield what was checked of a selector, and what was found to be wrong; empty if nothing is.

    `PauseflError` if there is no such selector.
    """
    record, failed = SELECTORS.find(name), False
    for about in CHECKS.values():
        if about is never_sees_the_latency_law and name in TRUTH:
            continue
        wrong = ""
        for reward in REWARDS if record.uses_reward else ["r1"]:
            try:
                about(name, world(reward))
            except RuleError as error:
                wrong = wrong or str(error)
            except Exception as error:  # whatever a user's code raises
                where = users_line(error, Record.load(record))[0]
                ours = failed and where.startswith(Path(__file__).name)  # of what it returned
                told = f"it raised {type(error).__name__} in {where}: {error}"
                wrong = wrong or ("cannot be told before that is mended" if ours else told)
        failed = failed or bool(wrong)
        yield (about.__doc__ or "").rstrip(".").replace("``", "'"), wrong


def itself(name: str, scenario: Scenario) -> Selector:
    """The selector for a scenario, without what watches over one of a user's own in a run."""
    cls: type[Selector] = Record.load(SELECTORS.find(name))
    made = cls.build(scenario)
    must(isinstance(made, Selector), f"its build made {made!r:.80}, no pausefl.Selector")
    return made


def world(reward: str = "r1") -> Scenario:
    """Twelve users, three selected, and all that any selector needs."""
    demo = load_scenario("demo_small", home() / SHIPPED)
    selection = SelectionSettings(
        exploitation=1.0,
        n_iterations=20,
        temperature_divisor=30.0,
        n_tiers=3,
        deadline=0.5,
        n_candidates=7,
        pacer_step=0.2,
    )
    return changed(demo.replace(selection=selection, reward=REWARDS[reward]), round_latency_max=1.2)


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


def must(holds: object, otherwise: str) -> None:
    """Raise `RuleError` with a text unless something holds."""
    if not holds:
        raise RuleError(otherwise)


def are_alike(ours: Users, theirs: Users) -> bool:
    """Whether two samples of counts may have one distribution."""
    from scipy import stats

    frequencies = np.array([ours, theirs])
    frequencies = frequencies[:, frequencies.any(axis=0)]
    return bool(stats.chi2_contingency(frequencies).pvalue > _UNLIKELY)


def are_same(one: object, other: object) -> bool:
    """Whether two histories or feedbacks are equal to the last bit."""
    names = [field.name for field in dataclasses.fields(one)]  # type: ignore[arg-type]
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    return all(a is b or np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in pairs)


@check
def takes_as_many_of_the_available_users_as_it_should(name: str, scenario: Scenario) -> None:
    """It returns the ids of m of the available users, each once and ascending, in an int64 array."""
    history, select, rng = start(scenario), itself(name, scenario), np.random.default_rng(2)
    n_users, m, record = len(history.data_size), history.n_selected, SELECTORS[name]
    for t in range(40):
        if t > 8:
            history.available = np.isin(
                np.arange(n_users), rng.permutation(n_users)[: rng.integers(m, n_users + 1)]
            )
        users = select(history, rng)
        what = fault(users, history, record)
        must(not what, f"it returned {what} in round {history.round}")
        if record.own_number and "selection.n_candidates" in record.requires:
            n_drawn = scenario.selection.n_candidates or 0
            must(len(users) <= n_drawn, f"it returned {len(users)} users, more than were drawn")
        seen = feedback(name, scenario, history, np.unique(users))
        select.observe(seen, history)
        history.observe(seen)


@check
def refuses_to_choose_among_too_few(name: str, scenario: Scenario) -> None:
    """It takes users from ``history.candidates()``, which refuses if fewer than m are available."""
    history, select = start(scenario), itself(name, scenario)
    history.available = np.arange(12) > 9
    try:
        users = select(history, np.random.default_rng(0))
    except PauseflError as error:
        must("3 users are to be selected, but only 2 of 12" in str(error), f"it raised: {error}")
    else:
        raise RuleError(f"of users 10 and 11 it selected {np.asarray(users).tolist()}, and m is 3")


@check
def is_a_pure_function_of_history_and_stream(name: str, scenario: Scenario) -> None:
    """A call changes nothing: the same history and stream give the same users."""
    history, select = start(scenario), itself(name, scenario)
    for n_rounds in (0, 2, 8):
        simulate(name, scenario, select, history, n_rounds)
        before = copy.deepcopy(history)
        first = select(history, np.random.default_rng(5))
        select(start(scenario), np.random.default_rng(6))  # whatever it is asked in between
        again = select(history, np.random.default_rng(5))
        must(np.array_equal(again, first), f"it selected {first.tolist()}, then {again.tolist()}")
        told = feedback(name, scenario, history, np.unique(first))
        told_before = copy.deepcopy(told)
        select.observe(told, history)
        must(are_same(history, before), "it changes the history")
        must(are_same(told, told_before), "observe changes the feedback")
        history.observe(told)


@check
def chooses_users_alike_in_everything_equally_often(name: str, scenario: Scenario) -> None:
    """Users alike in everything, and pairs of them, are selected equally often."""
    from scipy import stats

    scenario = changed(scenario, **all_equal(scenario))
    history, select = start(scenario, alike=True), itself(name, scenario)
    record, everyone = SELECTORS[name], np.arange(12)
    updates = np.ones((12, 5), np.float32) if record.needs_updates else None
    losses = np.ones(12) if record.needs_losses else None
    for _ in range(2):
        made = counts(select, history, 400)
        if not record.takes_everyone:
            # The standard deviation is at most sqrt(400 * 1/2 * 1/2) = 10.
            each = made.sum(axis=0)
            must(
                np.abs(each - made.sum() / 12).max() < 45,
                f"on 400 streams such users were selected {each.tolist()} times; the stream must break ties",
            )
            # So are pairs, of one cluster and of two.
            same = history.cluster[np.triu_indices(12, 1)[0]] == history.cluster[np.triu_indices(12, 1)[1]]
            for pairs in (together(made)[same], together(made)[~same]):
                fair = not pairs.any() or stats.chisquare(pairs).pvalue > _UNLIKELY
                must(fair, "some pairs of such users were selected together much more often than others")
        seen = Feedback(everyone, np.full(12, 0.1), np.full(12, 0.9), updates, losses)
        select.observe(seen, history)
        history.observe(seen)


def renumber(told: Feedback, order: Users) -> Feedback:
    """What a round reveals where user ``order[i]`` is called i."""
    return dataclasses.replace(told, users=np.argsort(order)[told.users], privacy=told.privacy[order])


@check
def does_not_depend_on_user_numbers(name: str, scenario: Scenario) -> None:
    """With other ids, the same users are selected as often."""
    n_streams = 300
    few = scenario.selection.replace(n_iterations=3)  # so that annealing is still random
    scenario = scenario.replace(selection=few)
    equally_fast = changed(scenario, **all_equal(scenario))
    order = np.random.default_rng(3).permutation(12)
    for place, n_rounds, n_available in [(scenario, 0, 9), (scenario, 12, 9), (equally_fast, 1, 12)]:
        here, there = itself(name, place), itself(name, place)
        if name in TRUTH:
            setattr(there, TRUTH[name], getattr(there, TRUTH[name])[order])
        history, renumbered = start(place), start(place)
        for attribute in ("data_size", "quality", "cluster"):
            setattr(renumbered, attribute, getattr(history, attribute)[order])
        rng = np.random.default_rng(4)
        for t in range(n_rounds):
            users = np.flatnonzero((rng.random(12) < 0.4) | (t == 0))
            told = feedback(name, place, history, users)
            if place is equally_fast:
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
            alike = np.array_equal(theirs, ours)
        else:
            alike = are_alike(ours.sum(axis=0), theirs.sum(axis=0))
            alike = alike and are_alike(together(ours), together(theirs))
        must(alike, "after the users were renumbered, it selected others; ids must not break ties")


@check
def never_sees_the_latency_law(name: str, scenario: Scenario) -> None:
    """It knows latencies from the history alone, not from the settings of the network."""
    spread = {"fast_latency_max": 0.6, "slow_latency_max": 5.0, "latency_std": 0.3}
    selectors = [itself(name, changed(scenario, **law)) for law in ({}, spread, all_equal(scenario))]
    history = start(scenario)
    for _ in range(15):
        first, *others = (counts(select, history, 10) for select in selectors)
        for other in others:
            must(np.array_equal(other, first), "in a network of other latencies it selected other users")
        drawn = selectors[0](history, np.random.default_rng(history.round))
        seen = feedback(name, scenario, history, np.unique(drawn))
        for select in selectors:
            select.observe(seen, history)
        history.observe(seen)


@check
def goes_on_from_a_saved_state_as_if_never_stopped(name: str, scenario: Scenario) -> None:
    """A resumed run goes on as if it had not stopped; what it remembers are the arrays in ``remembered``."""
    for n_rounds in (0, 1, 9):
        history, select = start(scenario), itself(name, scenario)
        simulate(name, scenario, select, history, n_rounds)
        state = select.state()
        must(list(state) == list(select.remembered), f"state() has {list(state)}, not {select.remembered}")
        for key, values in state.items():
            plain = isinstance(values, np.ndarray) and values.dtype != object
            must(plain, f"it remembers '{key}', which is no array of numbers")
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
        must(again == onwards, f"stopped after round {n_rounds}, it then selected other users")
        must(are_same(resumed_history, history), "it changes the history")
        for key, values in select.state().items():
            must(np.array_equal(resumed.state()[key], values), f"stopped, it then remembered another '{key}'")


@check
def says_whether_it_looks_at_the_reward(name: str, scenario: Scenario) -> None:
    """It looks at the reward if it says so (``uses_reward``), and only then."""
    rewards = [
        reward.replace(alpha=alpha, gamma=gamma)
        for reward in REWARDS.values()
        for alpha, gamma in ((100.0, 0.0), (0.0, 5.0), (1.0, 5.0))
    ]
    made = set()
    for reward in rewards:
        one = scenario.replace(reward=reward)
        made.add(str(simulate(name, one, itself(name, one), start(one), 40)))
    uses = SELECTORS[name].uses_reward
    must((len(made) > 1) == uses, f"uses_reward is {uses}, and {len(made)} of 6 rewards gave different users")
