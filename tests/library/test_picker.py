"""Selection in a loop of one's own: what jobs select, budgets, clients who fail, join or come back."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pausefl
from pausefl import GeometricSchedule, Picker
from pausefl.bandit.rewards import OverlapReward, QualityReward
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.plugins import arguments
from pausefl.privacy import ConstantSchedule, UniformSchedule, ZcdpAccountant
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, with_changes
from pausefl.streams import Streams
from pausefl.testing.contract import SELECTION as NEEDED

K, M, FLOOR, TIMEOUT = 12, 3, 0.05, 2.0
SIZES = {f"client {k}": 10 + 7 * k for k in range(K)}
#: Selectors that learn: the others know the truth by definition, or take everyone.
LEARNING = [
    name for name, part in SELECTORS.items() if not {"speeds", "mean_latency"} & arguments(part).keys()
]
CHOOSING = [name for name in LEARNING if not SELECTORS[name].takes_everyone]


def pick(selector: Any, sizes: dict[Any, int] = SIZES, **changes: Any) -> Picker:
    """A picker of K clients with every option that its selector needs."""
    needed = arguments(SELECTORS[selector] if isinstance(selector, str) else selector)
    options = {name: value for name, value in NEEDED.items() if name in needed}
    return Picker(selector, sizes, M, FLOOR, TIMEOUT, **{**options, **changes})


class Refuses:
    """As a tensor of PyTorch that requires a gradient does."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


def play(picker: Picker, n_rounds: int, silent: Iterable[str] = ()) -> list[list[Any]]:
    """Selections of some rounds, in which some clients never answer."""
    selections = []
    for _ in range(n_rounds):
        rng = np.random.default_rng(picker.history.round)
        current = dict(zip(picker.ids, rng.uniform(0.1, 2, len(picker.ids)), strict=True))
        asked = picker.select(picker.ids, current if picker.facts.asks_losses else None)
        answered = [one for one in asked if one not in silent]
        rng = np.random.default_rng(picker.history.round)
        losses = {one: float(rng.uniform(0.1, 2)) for one in answered}
        updates = {one: rng.standard_normal(4) for one in answered}
        latency = {one: 0.1 + 0.07 * int(one.split()[1]) for one in answered}
        picker.observe(latency, losses=losses, updates=updates)
        selections.append(asked)
    return selections


@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("name", [name for name, part in SELECTORS.items() if not part.looks_at()])
def test_it_selects_as_a_job_does(demo: Scenario, name: str, share: float) -> None:
    limits = ["network.round_latency_max=1.2", "privacy.epsilon_total=5", "privacy.decay=0.3"]
    if share < 1:  # in some rounds fewer than m are there
        limits += ["network.availability=random", f"network.availability_share={share}"]
    scenario = with_changes(demo, limits + [f"selection.{key}={value}" for key, value in NEEDED.items()])
    network, streams = scenario.network, Streams(3)
    job = selection_only(scenario, name, 3)
    expected = [np.unique(users).tolist() for users in job.run(40).rounds["selection"]]
    truth = {
        "speeds": network.make_latency().expected_speeds(),
        "mean_latency": network.make_latency().means(),
    }
    truth["reward"] = scenario.reward.make()
    options = {key: vars(scenario.selection).get(key, truth.get(key)) for key in arguments(SELECTORS[name])}
    picker = Picker(
        name,
        dict(enumerate(job.history.data_size.tolist())),
        network.n_selected,
        network.latency_floor,
        network.round_latency_max,
        scenario.privacy.make_schedule(),
        3,
        **{key: value for key, value in options.items() if value is not None},
    )
    law, there = network.make_latency(), network.make_availability()
    for t, users in enumerate(expected, start=1):
        assert picker.select(np.flatnonzero(there.sample(streams, t)).tolist()) == users, t
        picker.observe({user: law.sample(streams, t)[user] for user in users})
    np.testing.assert_array_equal(picker.ledger.participations, job.ledger.participations)


@pytest.mark.parametrize("name", CHOOSING)
def test_a_client_who_never_answers_is_asked_at_most_its_fair_share(name: str) -> None:
    equal = dict.fromkeys(SIZES, 40)  # a share of the rounds is a share of the data, too
    selections = play(pick(name, equal), 200, silent=["client 4"])
    asked = Counter(one for users in selections for one in users)
    fair = sum(asked.values()) / K
    assert asked["client 4"] <= fair + 3 * np.sqrt(fair)
    assert asked["client 4"] >= 1


@pytest.mark.parametrize("name", LEARNING)
def test_rounds_in_which_nobody_answers_pass(name: str) -> None:
    picker = pick(name)
    play(picker, 3, silent=SIZES)
    play(picker, 9)
    play(picker, 3, silent=SIZES)
    assert picker.history.round == 16


@pytest.mark.parametrize(
    ("answers", "failed", "expected"),
    [
        ((0.3,), [1], [0.3, TIMEOUT, TIMEOUT]),  # the last neither answers nor is said to have failed
        ((0.0, 0.01, 9.0), [], [FLOOR, FLOOR, TIMEOUT]),
    ],
)
@pytest.mark.parametrize("name", ["random", "oort"])
def test_latencies_are_between_the_floor_and_the_timeout_which_counts_for_no_answer(
    name: str, answers: tuple[float, ...], failed: list[int], expected: list[float]
) -> None:
    picker = pick(name)
    asked = picker.select(SIZES)
    latency = dict(zip(asked, answers, strict=False))
    picker.observe(latency, failed=[asked[i] for i in failed], losses=dict.fromkeys(asked, 1.0))
    seen = [picker.index[one] for one in asked]
    np.testing.assert_allclose(picker.history.mean_latency[seen], expected)
    np.testing.assert_allclose(picker.history.mean_speed[seen], FLOOR / np.array(expected))
    assert picker.history.participations[seen].tolist() == [1, 1, 1]


@pytest.mark.parametrize("seconds", [-0.1, float("nan"), float("inf")])
def test_a_latency_that_cannot_be_names_the_client(seconds: float) -> None:
    picker = pick("random")
    (first, *_) = picker.select(SIZES)
    with pytest.raises(PauseflError, match=f"latency of client '{first}' = "):
        picker.observe({first: seconds})
    assert picker.history.round == 1


@given(st.lists(st.sets(st.sampled_from(sorted(SIZES))), min_size=1, max_size=40))
def test_only_clients_online_are_asked_and_no_budget_is_exceeded(rounds: list[set[str]]) -> None:
    picker = pick("pause", schedule=UniformSchedule(1.0, 3))
    spent = Counter[Any]()
    for online in rounds:
        asked = picker.select(online)
        left = [one for one in online if spent[one] < 0.99]
        assert set(asked) <= set(left)
        assert len(asked) == min(M, len(left))
        for one in asked:
            spent[one] += picker.epsilon[one]
        picker.observe(dict.fromkeys(asked, 0.2))
    assert max(spent.values(), default=0.0) <= 1 + 1e-9


def test_budgets_are_charged_when_clients_are_asked() -> None:
    picker = pick("random", schedule=GeometricSchedule(10.0, 0.5))
    (first, *_) = picker.select(SIZES)
    assert picker.epsilon[first] == pytest.approx(10 * (np.exp(0.5) - 1) * np.exp(-0.5))
    assert picker.ledger.spent()[picker.index[first]] == pytest.approx(picker.epsilon[first])
    picker.select(SIZES)  # the first round was never observed: nobody answered
    assert picker.history.round == 2
    assert picker.history.mean_latency[picker.index[first]] == TIMEOUT
    assert set(pick("random").epsilon.values()) == set()


@pytest.mark.parametrize(
    ("accountant", "n_rounds"),
    [("pure", 5), ("zcdp", 16), (ZcdpAccountant(1e-5), 16), (ZcdpAccountant(1e-9), 9)],
)
def test_the_accountant_says_how_often_a_client_may_be_asked(accountant: Any, n_rounds: int) -> None:
    """rho = (sqrt(ln(1/delta) + 1) - sqrt(ln(1/delta)))^2 pays for 16 and for 9 participations of 0.05."""
    picker = pick(
        "fedavg", schedule=ConstantSchedule(1.0, 0.05 if accountant != "pure" else 0.2), accountant=accountant
    )
    asked = play(picker, 20)
    assert [len(users) for users in asked] == [K] * n_rounds + [0] * (20 - n_rounds)
    assert (picker.ledger.spent() <= 1.0 + 1e-9).all()
    assert (picker.ledger.spent() > 0.9).all()


def test_a_state_goes_on_under_the_accountant_that_it_has_or_had() -> None:
    schedule = GeometricSchedule(40.0, 0.1)
    first, by_zcdp = pick("pause", schedule=schedule), pick("pause", schedule=schedule, accountant="zcdp")
    play(first, 9), play(by_zcdp, 9)
    earlier = first.state()
    del earlier["made"]["accountant"]  # there was none to choose
    pick("pause", schedule=schedule).restore(earlier)
    pick("pause", schedule=schedule, accountant=ZcdpAccountant(1e-5)).restore(by_zcdp.state())
    for state, accountant in (
        (earlier, "zcdp"),
        (by_zcdp.state(), "pure"),
        (by_zcdp.state(), ZcdpAccountant(1e-6)),
    ):
        with pytest.raises(PauseflError, match=r"the saved state is of a picker with accountant = \["):
            pick("pause", schedule=schedule, accountant=accountant).restore(state)


@pytest.mark.parametrize("name", LEARNING)
def test_a_server_that_restarts_goes_on_to_the_same_selections(name: str) -> None:
    schedule = None if SELECTORS[name].asks_losses else GeometricSchedule(40.0, 0.1)
    whole = play(pick(name, schedule=schedule), 30)
    first = pick(name, schedule=schedule)
    play(first, 17)
    second = pick(name, schedule=schedule)
    second.restore(pickle.loads(pickle.dumps(first.state())))
    assert play(second, 13) == whole[17:]
    np.testing.assert_array_equal(second.ledger.participations.sum(), sum(map(len, whole)))


class Alternates(pausefl.Selector):
    """The lowest ids and the highest by turns; it counts the rounds by itself."""

    def __init__(self) -> None:
        self.n_rounds = np.zeros(1, np.int64)

    def __call__(self, history: Any, rng: np.random.Generator) -> Any:
        users = history.candidates()
        return users[: history.n_selected] if self.n_rounds[0] % 2 else users[-history.n_selected :]

    def observe(self, feedback: Any, history: Any) -> None:
        self.n_rounds += 1


class AlternatesAndRemembers(Alternates):
    remembered = ("n_rounds",)


class AlternatesAsSaved(Alternates):
    def state(self) -> dict[str, Any]:
        return {"n_rounds": self.n_rounds.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        self.n_rounds = state["n_rounds"]


def test_a_selector_of_ones_own_that_learns_and_remembers_nothing_is_warned_of_once() -> None:
    picker = pick(Alternates)
    play(picker, 3)
    with pytest.warns(UserWarning, match="selector 'Alternates' has a method observe and names no arrays"):
        picker.state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picker.state()


OWN = [AlternatesAndRemembers, AlternatesAsSaved, *(SELECTORS[name] for name in LEARNING)]


@pytest.mark.parametrize("part", OWN)
def test_a_selector_that_remembers_what_it_learns_is_not_warned_of(part: type[pausefl.Selector]) -> None:
    picker = pick(part)
    play(picker, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picker.state()


def test_a_restart_knows_what_clients_are_and_how_the_picker_was_made() -> None:
    reward, late = QualityReward(alpha=1.0, beta=1.5, gamma=0.0), ["client 12", "client 13"]

    def made() -> Picker:
        return pick("bsfl", reward=reward, quality={"client 2": 0.3})

    first = made()
    first.join(dict.fromkeys(late, 200), dict(zip(late, (0.2, 0.9), strict=True)))
    play(first, 25)
    second = made()
    second.restore(pickle.loads(pickle.dumps(first.state())))
    np.testing.assert_array_equal(second.history.quality, first.history.quality)
    assert play(second, 10) == play(first, 10)
    for other, words in (
        (pick("random"), "of a picker with selector = bsfl"),
        (pick("bsfl", reward=reward, schedule=UniformSchedule(1.0, 3)), "schedule = None"),
        (
            pick("bsfl", dict(reversed(SIZES.items())), reward=reward),
            "of other clients, or has them in another",
        ),
    ):
        with pytest.raises(PauseflError, match=words):
            other.restore(first.state())
    with pytest.raises(PauseflError, match=r"forgetting = 0\.0"):
        pick("random", forgetting=0.5).restore(pick("random").state())
    pick("random", schedule=GeometricSchedule(40, np.float64(1))).restore(
        pick("random", schedule=GeometricSchedule(40.0, 1)).state()
    )
    before, broken = pickle.dumps(second.state()), first.state() | {"history/privacy": None}
    for state in ({}, broken):
        with pytest.raises(PauseflError, match=r"saved state (lacks|is) |of the saved state is"):
            second.restore(state)
    assert pickle.dumps(second.state()) == before


def test_a_round_that_was_under_way_at_a_restart_counts_as_unanswered() -> None:
    first, second = (pick("clustered_size", schedule=GeometricSchedule(40.0, 0.1)) for _ in range(2))
    play(first, 3)
    asked = first.select(SIZES)
    second.restore(first.state())
    assert second.epsilon == second.weights() == {}
    assert second.history.mean_latency[second.index[asked[0]]] > 1
    first.observe({})
    assert play(second, 5) == play(first, 5)


@pytest.mark.parametrize("name", LEARNING)
def test_a_client_joins_later_and_is_tried(name: str) -> None:
    picker = pick(name)
    play(picker, 20)
    picker.join({"client 12": 30, "client 13": 50})
    asked = Counter(one for users in play(picker, 40) for one in users)
    assert asked["client 12"] > 0
    assert asked["client 13"] > 0
    again = pick(name)
    again.restore(picker.state())
    assert again.ids == picker.ids
    assert play(again, 5) == play(picker, 5)


def test_qualities_and_clusters_are_looked_at_by_the_rewards_and_selectors_of_ones_own_that_do() -> None:
    def best(history: pausefl.History, rng: np.random.Generator) -> Any:
        users = history.candidates()
        return users[np.argsort(-history.quality[users], kind="stable")[: history.n_selected]]

    assert pick(best, quality=dict.fromkeys(list(SIZES)[2:], 0.5)).select(SIZES)[:2] == [*SIZES][:2]
    reward = OverlapReward(100.0, 2.0, 5.0, 0.25, 0.5)
    picker = pick("pause", reward=reward, cluster={one: k % 3 for k, one in enumerate(SIZES)})
    picker.join({"x": 10, "y": 20}, cluster={"y": 2})
    picker.leave(["y", "client 1"])
    picker.join({"y": 20, "z": 9, "client 1": 17}, cluster={"y": 1, "client 1": 2})
    assert picker.history.cluster.tolist() == [0, 2, 2, *([0, 1, 2] * 3), 0, 1, 0]
    again = pick("pause", reward=reward, cluster=dict.fromkeys(SIZES, 0))
    again.restore(picker.state())
    assert again.history.cluster.tolist() == picker.history.cluster.tolist()


@pytest.mark.parametrize("silent", [True, False])
@pytest.mark.parametrize("name", ["pause", "bsfl", "sweep"])
def test_clients_who_join_late_are_asked_about_as_often_as_the_others_since_then(
    name: str, silent: bool
) -> None:
    picker = pick(name, dict.fromkeys(SIZES, 40))
    play(picker, 200)
    new = ["client 12", "client 13", "client 14"]
    picker.join(dict.fromkeys(new, 40))
    asked = Counter(one for users in play(picker, 60, silent=new if silent else ()) for one in users)
    fair = 60 * M / (K + 3)
    for one in new:
        assert 1 <= asked[one] <= 2 * fair


def test_fewer_clients_than_m_all_take_part() -> None:
    picker = pick("pause", {})
    assert picker.select([]) == []
    picker.observe({})
    picker.join({("a", 1): 5, 7: 3})
    assert picker.select([7, ("a", 1)]) == [("a", 1), 7]
    assert picker.weights() == {("a", 1): 5 / 8, 7: 3 / 8}


def test_clustered_sampling_weighs_by_the_times_sampled() -> None:
    picker = pick("clustered_size", {"large": 97, "a": 1, "b": 1, "c": 1})
    asked = picker.select(picker.ids)
    assert picker.weights()["large"] >= 2 / 3
    assert sum(picker.weights().values()) == pytest.approx(1)
    assert "large" in asked


def test_a_selector_of_ones_own() -> None:
    def largest(history: pausefl.History, rng: np.random.Generator) -> Any:
        users = history.candidates()
        return users[np.argsort(-history.data_size[users])[: history.n_selected]]

    def beyond(history: pausefl.History, rng: np.random.Generator) -> Any:
        return [0, 1, 99]

    assert pick(largest).select(SIZES) == ["client 9", "client 10", "client 11"]
    with pytest.raises(PauseflError, match="selector 'beyond' returned ids from 0 to 99"):
        pick(beyond).select(SIZES)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Picker("puase", SIZES, M, FLOOR, TIMEOUT),
            r"unknown selector 'puase'\. Did you mean 'pause'\?",
        ),
        (lambda: pick("pause", explotation=2), r"no option 'explotation'\. Did you mean 'exploitation'"),
        (lambda: pick("pause", exploitation=-2), r"'pause': exploitation = -2 must be greater than 0"),
        (lambda: Picker("tifl", SIZES, M, FLOOR, TIMEOUT), "selector 'tifl' needs n_tiers"),
        (lambda: Picker("genie", SIZES, M, FLOOR, TIMEOUT), "selector 'genie' needs speeds"),
        (lambda: pick("genie", speeds=[0.5]), f"speeds must have a value of each of the {K} clients"),
        (lambda: Picker("random", SIZES, 0, FLOOR, TIMEOUT), "n_selected = 0 must be"),
        (lambda: Picker("random", SIZES, M, 0.0, TIMEOUT), r"latency_floor = 0\.0 must be above 0"),
        (lambda: Picker("random", SIZES, float("nan"), FLOOR, TIMEOUT), "n_selected = nan must be"),
        (lambda: Picker("random", SIZES, M, FLOOR, None), "timeout = None must be a finite"),  # type: ignore[arg-type]
        (lambda: Picker("random", SIZES, M, FLOOR, float("inf")), "timeout = inf must be a finite"),
        (lambda: Picker("random", SIZES, M, FLOOR, 10**400), "timeout = 1000.* must be a finite number"),
        (
            lambda: Picker("random", SIZES, M, FLOOR, 10**5000),
            "timeout = a number of thousands of digits must",
        ),
        (lambda: Picker("random", SIZES, M, FLOOR, True), "timeout = True must be a finite number"),
        (lambda: Picker("random", SIZES, M, True, TIMEOUT), "latency_floor = True must be above 0"),
        (lambda: Picker("random", SIZES, M, 10**400, TIMEOUT), "latency_floor = 1000.* must be above 0"),
        (lambda: pick("random", over_selection=True), "over_selection = True must be a number from 0 to 10"),
        (lambda: pick("random", forgetting=False), "forgetting = False must be at least 0"),
        (lambda: pick("bsfl", quality={"client 3": True}), "quality of client 'client 3' = True must be"),
        (lambda: pick("random", seed=10**5000), "seed = a number of thousands of digits must be"),
        (lambda: Picker("random", SIZES, M, TIMEOUT, TIMEOUT), "must be above 0 and below timeout"),
        (lambda: Picker("random", [1], M, FLOOR, TIMEOUT), r"data_size = \[1\] must say it of each"),  # type: ignore[arg-type]
        (lambda: Picker("random", {"a": 0}, M, FLOOR, TIMEOUT), "data_size of client 'a' = 0 must be"),
        (lambda: pick("random", seed=-1), "seed = -1 must be a whole number of at least 0"),
        (lambda: pick("random", schedule=40.0), r"schedule = 40\.0 must be a pausefl\.Schedule"),
        (lambda: pick("random", accountant="zcdp"), "accountant = 'zcdp' counts the budgets of a schedule"),
        (
            lambda: pick("random", schedule=UniformSchedule(1.0, 3), accountant="zcpd"),
            r"unknown accountant 'zcpd'\. Did you mean 'zcdp'",
        ),
        (
            lambda: pick("random", schedule=UniformSchedule(1.0, 3), accountant=1e-5),
            "accountant = 1e-05 must be a name, or a pausefl.privacy.Accountant",
        ),
        (lambda: pick("pause", reward="r1"), r"reward = 'r1' must be a pausefl\.Reward"),
        (lambda: pick("bsfl", quality={"client 3": 2.0}), r"quality of client 'client 3' = 2\.0 must be"),
        (lambda: pick("bsfl", quality={"x": 1.0}), "client 'x' has a quality or a cluster, and no data_size"),
        (
            lambda: pick("random", reward=QualityReward(1.0, 2.0, 0.0)),
            "reward: selector 'random' does not use one",
        ),
        (
            lambda: pick(lambda history, rng: [0, 1, 2], reward=QualityReward(1.0, 2.0, 0.0)),
            "reward: selector '<lambda>' does not use one",
        ),
        (
            lambda: pick("bsfl", quality={"client 3": 0.5}),
            "quality: the reward, AverageReward, does not look at it. Give a reward that does, such as Qua",
        ),
        (
            lambda: pick("pause", reward=QualityReward(1.0, 2.0, 0.0), cluster={"client 3": 1}),
            "cluster: the reward, QualityReward, does not look at it. Give .* such as OverlapReward of",
        ),
        (lambda: pick("random", quality={"client 3": 0.5}), "quality: selector 'random' does not look at it"),
        (
            lambda: pick("sweep").join({"x": 1}, cluster={"x": 1}),
            "cluster: selector 'sweep' does not look at",
        ),
        (lambda: pick("random", exploitation=2), "no option 'exploitation'. There is none."),
        (lambda: pick("cs_ucb", round_latency_max=7), "no option 'round_latency_max'. There is none."),
        (lambda: pick("power_of_choice", n_candidates=2), "n_candidates = 2 must be at least n_selected = 3"),
        (lambda: GeometricSchedule(float("nan"), 0.1), "epsilon_total = nan must be a number above 0"),
        (lambda: GeometricSchedule(1.0, 0.0), "decay = 0.0 must be a number above 0"),
        (lambda: UniformSchedule(1.0, 1.5), r"n_participations = 1\.5 must be a whole number"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], Picker], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        make()


def test_a_client_that_is_not_known_or_was_not_asked_is_an_error() -> None:
    picker = pick("random")
    with pytest.raises(PauseflError, match=re.escape("client 'x' is not known")):
        picker.select(["x"])
    asked = picker.select(SIZES)
    other = next(one for one in SIZES if one not in asked)
    with pytest.raises(PauseflError, match=f"client '{other}' was not asked in round 1"):
        picker.observe({other: 1.0})
    with pytest.raises(ConfigError, match="is known already"):
        picker.join({other: 3})


def test_what_a_selector_looks_at_must_be_told() -> None:
    picker = pick("oort")
    (first, *_) = picker.select(SIZES)
    with pytest.raises(PauseflError, match=f"'oort' looks at losses: none of client '{first}'"):
        picker.observe({first: 0.3})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("oort", {"losses": [0.3, float("nan"), 0.2]}),
        ("power_of_choice", {"losses": [0.3, float("inf"), 0.2]}),
        ("clustered_similarity", {"updates": [[1.0, 2.0], [1.0, float("nan")], [0.0, 1.0]]}),
        ("clustered_similarity", {"updates": [[1.0, 2.0], [1.0], [0.0, 1.0]]}),
        ("clustered_similarity", {"updates": [Refuses(), Refuses(), Refuses()]}),
    ],
)
def test_a_loss_or_an_update_that_cannot_be_names_the_client(name: str, told: dict[str, Any]) -> None:
    picker = pick(name)
    asked = picker.select(SIZES)
    by_id = {what: dict(zip(asked, values, strict=True)) for what, values in told.items()}
    with pytest.raises(PauseflError, match=re.escape(f"'{asked[1]}'")):
        picker.observe(dict.fromkeys(asked, 0.2), **by_id)
    assert picker.history.round == 1


@pytest.mark.parametrize(
    ("name", "told", "words"),
    [
        ("oort", [1.0], "must be a number, and not of shape (1,)"),
        ("clustered_similarity", 1.0, "must be an array (d,), and not of shape ()"),
        ("clustered_similarity", [[1.0, 2.0]], "must be an array (d,), and not of shape (1, 2)"),
        ("clustered_similarity", [1.0, 2.0, 3.0], "updates have 3 values, those of earlier rounds 4"),
    ],
)
def test_losses_are_numbers_and_updates_keep_their_length(name: str, told: Any, words: str) -> None:
    picker = pick(name)
    play(picker, 1)
    asked = picker.select(SIZES)
    by_id = dict.fromkeys(asked, told)
    with pytest.raises(PauseflError, match=re.escape(words)):
        picker.observe(dict.fromkeys(asked, 0.2), losses=by_id, updates=by_id)
    picker.observe({})
    play(picker, 1)
    assert picker.history.round == 4


def test_options_have_the_pickers_own_values() -> None:
    class Forgets(pausefl.Selector):
        def __init__(self, forgetting: float) -> None:
            self.forgetting = forgetting

        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            assert self.forgetting == history.forgetting == 0.3
            return history.candidates()[: history.n_selected]

    assert len(pick(Forgets, forgetting=0.3).select(SIZES)) == M


def test_rounds_with_nobody_new_do_not_end_profiling() -> None:
    picker = pick("tifl", n_tiers=2)
    picker.select([])
    picker.observe({})
    few = picker.ids[:M]
    for _ in range(2):
        picker.observe(dict.fromkeys(picker.select(few), 0.1))
    play(picker, 9)
    tier = dict(zip(picker.ids, picker.selector.tier.tolist(), strict=True))  # type: ignore[attr-defined]
    assert sorted(tier.values()) == [0] * 6 + [1] * 6


def test_nothing_happens_if_nobody_joins() -> None:
    class Remembers(pausefl.Selector):
        remembered = ("seen",)

        def __init__(self) -> None:
            self.seen = np.zeros(K)

        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            return history.candidates()[: history.n_selected]

    picker = pick(Remembers)
    picker.join({})
    with pytest.raises(PauseflError, match="Remembers has no method join"):
        picker.join({"client 12": 1})
    with pytest.raises(ConfigError, match="data_size of client 'client 1' = -7 must be"):
        picker.resize({"client 1": -7})


def test_a_state_from_before_a_constant_was_an_option_has_the_value_that_it_had() -> None:
    old = pick("cs_ucb_q", queue_weight=0.5)
    play(old, 5)
    state = old.state()
    del state["made"]["queue_weight"]
    with pytest.raises(PauseflError, match=r"the saved state is of a picker with queue_weight = 0\.5"):
        pick("cs_ucb_q").restore(state)
    again = pick("cs_ucb_q", queue_weight=0.5)
    again.restore(state)
    assert play(again, 5) == play(old, 5)


def test_current_losses_decide_for_pow_d_and_are_asked_for_by_name() -> None:
    picker = pick("pow_d", n_candidates=K)
    losses = {one: float(k % 5) for k, one in enumerate(SIZES)}
    assert {"client 4", "client 9"} < set(picker.select(SIZES, losses))
    with pytest.raises(PauseflError, match="'pow_d' looks at losses: none of client 'client 1'"):
        picker.select(["client 1", "client 2"], {"client 2": 0.3})


def test_nobody_pays_with_pow_d() -> None:
    with pytest.raises(ConfigError, match="'pow_d' asks clients for losses that no budget pays for"):
        pick("pow_d", n_candidates=K, schedule=GeometricSchedule(10.0, 0.04))


def test_it_needs_nothing_that_training_needs() -> None:
    """Nor does importing the package; the command, and names of the library, say what to install."""
    code = """
import sys

packages = ["torch", "pandas", "pyarrow", "typer", "rich", "scipy", "matplotlib", "flwr", "nvflare"]
sys.modules |= dict.fromkeys(packages)
import pausefl

for name in ("pause", "sa_pause", "bsfl", "clustered_size", "clustered_similarity", "oort", "cs_ucb_q"):
    options = {"pacer_step": 0.3} if name == "oort" else {}
    picker = pausefl.Picker(name, {k: 10 + k for k in range(20)}, 3, 0.05, 2.0)
    for _ in range(9):
        told = {one: 0.1 for one in picker.select(range(20))}
        picker.observe(told, losses=told, updates={one: [1.0, one] for one in told})
assert "pause" in pausefl.selector_names()
parts = (lambda: pausefl.run, lambda: __import__("pausefl.flower"), lambda: __import__("pausefl.flare"))
for try_it in parts:
    try:
        try_it()
    except ImportError as error:
        print(error)
from pausefl.command import main

main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "pausefl.run needs pandas: pip install 'pausefl[training]'",
        "pausefl.flower needs flwr: pip install 'pausefl[flower]'",
        "pausefl.flare needs nvflare: pip install 'pausefl[flare]'",
    ]
    assert done.stderr == "Error: the command pausefl needs typer: pip install 'pausefl[training]'\n"
