"""A picker among real clients: late answers, over-selection, who leaves, mistakes in units, restarts."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pausefl
from pausefl import GeometricSchedule, Picker
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.picker.nodes import file_of, go_on, save
from pausefl.plugins import arguments
from pausefl.privacy import UniformSchedule
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, with_changes
from pausefl.streams import Streams
from pausefl.testing.contract import SELECTION as NEEDED

CLIENTS = {f"client {k}": 10 + 7 * k for k in range(12)}
M, FLOOR, TIMEOUT = 3, 0.05, 2.0
#: What `play` plays: all but those who know the truth.
LEARNING = [
    name for name, part in SELECTORS.items() if not {"speeds", "mean_latency"} & arguments(part).keys()
]


def pick(selector: Any = "random", clients: Any = CLIENTS, **changes: Any) -> Picker:
    """A picker with every option that its selector needs."""
    needed = arguments(SELECTORS[selector]) if isinstance(selector, str) else {}
    options = {name: value for name, value in NEEDED.items() if name in needed}
    given = {"n_selected": M, "latency_floor": FLOOR, "timeout": TIMEOUT, **options, **changes}
    return Picker(selector, clients, **given)


def play(picker: Picker, n_rounds: int) -> list[list[Any]]:
    """Selections of some rounds in which everybody answers, each client with a speed of its own."""
    selections = []
    for _ in range(n_rounds):
        rng = np.random.default_rng(picker.history.round)
        current = {one: float(rng.uniform(0.1, 2)) for one in picker.ids}
        asked = picker.select(picker.ids, current if picker.facts.asks_losses else None)
        losses = {one: float(rng.uniform(0.1, 2)) for one in asked}
        updates = {one: rng.standard_normal(4) for one in asked}
        latency = {one: 0.1 + 0.07 * picker.index[one] for one in asked}
        picker.observe(latency, losses=losses, updates=updates)
        selections.append(asked)
    return selections


@pytest.mark.parametrize("name", ["random", "pause", "cs_ucb", "tifl", "fedcs"])
def test_over_selection_asks_and_learns_as_a_job_does(demo: Scenario, name: str) -> None:
    changes = ["network.round_latency_max=0.9", "network.failures=random", "network.failure_rate=0.2"]
    changes += ["selection.over_selection=0.4", "privacy.epsilon_total=20"]
    changes += ["selection.n_candidates=12", "selection.deadline=0.8", "selection.n_tiers=2"]
    scenario = with_changes(demo, changes)
    network, streams = scenario.network, Streams(3)
    job = selection_only(scenario, name, 3)
    expected = [np.unique(users).tolist() for users in job.run(40).rounds["selection"]]
    given = {**vars(scenario.selection), "reward": scenario.reward.make()}
    options = {key: given.get(key) for key in arguments(SELECTORS[name])}
    picker = Picker(
        name,
        dict(enumerate(job.history.data_size.tolist())),
        network.n_selected,
        network.latency_floor,
        network.round_latency_max,  # type: ignore[arg-type]
        scenario.privacy.make_schedule(),  # type: ignore[union-attr]
        3,
        over_selection=0.4,
        **{key: value for key, value in options.items() if value is not None},
    )
    law, failing = network.make_latency(), network.make_failures()
    assert picker.n_asked == scenario.n_asked > picker.n_selected
    for t, users in enumerate(expected, start=1):
        assert picker.select(range(network.n_users)) == users, t
        seconds, fails = law.sample(streams, t), failing.sample(streams, t)
        picker.observe({user: seconds[user] for user in users if not fails[user]})
    np.testing.assert_array_equal(picker.ledger.participations, job.ledger.participations)
    np.testing.assert_allclose(picker.history.mean_latency, job.history.mean_latency)


def test_the_first_m_answers_count_and_the_seconds_of_all_are_learned() -> None:
    picker = pick("power_of_choice", n_candidates=12, over_selection=0.5)
    asked = picker.select(CLIENTS)
    assert len(asked) == picker.n_asked == 5  # ceil(1.5 * 3)
    first = asked[:3]
    weights = picker.weights(first)
    assert weights == pytest.approx({one: CLIENTS[one] / sum(map(CLIENTS.get, first)) for one in first})  # type: ignore[arg-type]
    latency = dict(zip(asked, (0.1, 0.2, 0.3, 0.4, 1.5), strict=True))
    assert picker.in_time(latency) == first
    assert picker.in_time({asked[4]: TIMEOUT, asked[3]: 0.4}) == [asked[3]]  # it came at the timeout
    picker.observe(latency, losses=dict.fromkeys(first, 1.0))  # nobody needs the losses of the others
    users = [picker.index[one] for one in asked]
    np.testing.assert_allclose(picker.history.mean_latency[users], [*latency.values()])
    assert picker.history.participations[users].tolist() == [1] * 5
    asked = picker.select(CLIENTS)
    latency = dict(zip(asked, (0.5, 0.4, 0.3, 0.2, 0.1), strict=True))
    with pytest.raises(PauseflError, match=f"looks at losses: none of client '{asked[2]}'"):
        picker.observe(latency, losses=dict.fromkeys(asked[3:], 1.0))  # the first m are the last three


@pytest.mark.parametrize("floor", [0.35, "auto"])
def test_who_counts_is_who_observe_counts_also_below_the_floor(floor: Any) -> None:
    picker = pick("power_of_choice", dict.fromkeys("abcdef", 10), latency_floor=floor, over_selection=0.9)
    for seconds in ([0.1, 0.2, 0.3, 0.4, 0.35, 0.5], [0.0, 1e-9, 0.0, 1e-5, 0.4, 3.0]):
        asked = picker.select([*"abcdef"])
        latency = dict(zip(asked, seconds, strict=True))
        counted = picker.in_time(latency)
        assert len(counted) >= 3
        picker.observe(latency, losses=dict.fromkeys(counted, 1.0))  # which looks at losses of those alone


@pytest.mark.parametrize("seconds", ["fast", None, math.nan, -1, True, math.inf])
def test_a_latency_that_cannot_be_in_time_names_the_client(seconds: Any) -> None:
    picker = pick("random", dict.fromkeys("abc", 10), over_selection=0.5)
    asked = picker.select([*"abc"])
    with pytest.raises(
        PauseflError, match=f"latency of client '{asked[1]}' = .* must be a number of at least"
    ):
        picker.in_time({asked[0]: 0.1, asked[1]: seconds})


@pytest.mark.parametrize(
    ("late", "seconds", "expected"),
    [
        ("slow", 0.7, 0.7),
        ("slow", 0.1, 0.3),  # it says that it took less than the round lasted
        ("slow", 9.0, TIMEOUT),
        ("ignore", 0.7, TIMEOUT),
    ],
)
@pytest.mark.parametrize("forgetting", [0.0, 0.5])
def test_an_answer_that_comes_after_its_round_corrects_what_the_round_counted(
    late: Any, seconds: float, expected: float, forgetting: float
) -> None:
    clients = dict.fromkeys("abcd", 10)
    picker = pick("fedavg", clients, over_selection=0.4, forgetting=forgetting)
    picker.select(clients)
    picker.observe({"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.5})
    picker.select(clients)
    picker.observe({"a": 0.1, "b": 0.2, "c": 0.3})
    assert picker.history.mean_latency[3] == pytest.approx((0.5 + TIMEOUT) / 2)
    asked = picker.select([*"abc"])
    picker.observe({**dict.fromkeys(asked, 0.1), "d": seconds}, late=late)
    assert picker.history.mean_latency[3] == pytest.approx((0.5 + expected) / 2)
    assert picker.history.mean_speed[3] == pytest.approx((FLOOR / 0.5 + FLOOR / expected) / 2)
    assert picker.history.participations.tolist() == [3, 3, 3, 2]
    picker.select([*"abc"])
    with pytest.raises(PauseflError, match="'d' was not asked in round 4, and no answer of an earlier round"):
        picker.observe({"d": seconds})


def test_a_late_answer_after_the_timeout_stays_slow_and_refuses_nobody_elses() -> None:
    picker = pick("fedavg", dict.fromkeys("abc", 10))
    picker.select([*"abc"])
    picker.observe({"a": 0.1}, failed=["c"])
    picker.select(["a"])
    picker.observe({"a": 0.3, "b": 0.2, "c": 0.2})
    np.testing.assert_allclose(picker.history.mean_latency, [0.2, TIMEOUT, TIMEOUT])
    with pytest.raises(ConfigError, match="late = 'slwo' must be 'slow' or 'ignore'"):
        picker.observe({}, late="slwo")  # type: ignore[arg-type]


@pytest.mark.parametrize("forgetting", [0.0, 0.3])
@pytest.mark.parametrize("restarted", [False, True])
def test_late_answers_of_clients_who_have_been_asked_again_are_learned(
    forgetting: float, restarted: bool
) -> None:
    """Client d answers each round after it ended, the last two in another order."""
    clients, seconds = dict.fromkeys("abcd", 10), [0.7, 0.5, 0.9, 0.6]
    picker, known = (pick("fedavg", clients, over_selection=0.4, forgetting=forgetting) for _ in range(2))
    for t, took in enumerate(seconds, start=1):
        for one in (picker, known):
            one.select(clients)
        if t == 2:
            picker.observe_late({"d": seconds[0]})
        known.observe({"a": 0.1, "b": 0.2, "c": 0.3, "d": took})
        picker.observe({"a": 0.1, "b": 0.2, "c": 0.3})
        if t == 3:
            picker.observe_late({"d": seconds[1]}, round=2)
    if restarted:
        state = json.loads(json.dumps(picker.state(plain=True)))
        picker = pick("fedavg", clients, over_selection=0.4, forgetting=forgetting)
        picker.restore(state)
    picker.observe_late({"d": seconds[3]})
    picker.observe_late({"d": seconds[2]}, round=3)
    for name in ("participations", "mean_latency", "mean_speed"):
        np.testing.assert_allclose(getattr(picker.history, name), getattr(known.history, name))
    before = picker.state(plain=True)
    with pytest.raises(PauseflError, match="no answer of client 'd' to round 3 is expected"):
        picker.observe_late({"d": 0.9}, round=3)
    with pytest.raises(PauseflError, match="no answer of client 'a' to an earlier round is expected"):
        picker.observe_late({"a": 0.9})
    picker.select(clients)
    picker.observe({})
    before = picker.state(plain=True)
    with pytest.raises(PauseflError, match=r"latency of client 'b' = -1 must be a number of at least 0"):
        picker.observe_late({"a": 0.9, "b": -1})
    assert picker.state(plain=True) == before


def test_a_client_who_is_always_just_too_late_is_known_by_its_seconds() -> None:
    picker = pick("random", dict.fromkeys("abc", 10), n_selected=2, over_selection=0.5)
    for t in range(9):
        picker.select([*"abc"])
        if t:
            picker.observe_late({"c": 0.6})
        picker.observe({"a": 0.3, "b": 0.5})
    assert picker.history.mean_latency.tolist() == pytest.approx([0.3, 0.5, (8 * 0.6 + TIMEOUT) / 9])


def test_a_selector_that_remembers_latencies_learns_late_ones_of_the_last_round() -> None:
    def losses(*of: str) -> dict[str, float]:
        return dict.fromkeys(of, 1.0)

    picker = pick("oort", dict.fromkeys("abcd", 10), over_selection=0.3, n_selected=3)
    picker.select([*"abcd"])
    picker.observe({"a": 0.1, "b": 0.2, "c": 0.3}, losses=losses(*"abc"))
    assert picker.selector.duration.tolist() == [0.1, 0.2, 0.3, TIMEOUT]
    picker.select([*"abc"])
    picker.observe({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.6}, losses=losses(*"abc"))
    assert picker.selector.duration.tolist() == [0.1, 0.2, 0.3, 0.6]
    for latency in ({"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}):
        picker.select([*"abcd"])
        picker.observe(latency, losses=losses(*"abc"))
    picker.observe_late({"d": 0.9})  # of the round before the last that d took part in
    assert picker.selector.duration.tolist() == [0.1, 0.2, 0.3, 0.4]
    other = pick("oort", dict.fromkeys("abcd", 10), over_selection=0.3, n_selected=3, timeout=60.0)
    fresh = pick("oort", dict.fromkeys("abcd", 10), over_selection=0.3, n_selected=3)
    fresh.select([*"abcd"])
    fresh.observe({"a": 0.1, "b": 0.2, "c": 0.3}, losses=losses(*"abc"))
    other.restore(fresh.state(), changed=["timeout"])
    assert other.selector.duration.tolist() == [0.1, 0.2, 0.3, 60]


def test_a_selector_of_ones_own_learns_late_answers() -> None:
    class Noting(pausefl.Selector):
        def __init__(self) -> None:
            self.noted = list[tuple[int, float]]()

        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            return history.candidates()[: history.n_selected]

        def correct(self, user: int, took: float) -> None:
            if took == 0.7:
                raise ValueError("seven")
            self.noted.append((user, took))

    picker = pick(Noting, dict.fromkeys("abc", 10), over_selection=0.5, n_selected=2)
    for _ in range(2):
        picker.select([*"abc"])
        picker.observe({"a": 0.1, "b": 0.2})
    picker.observe_late({"c": 0.5})
    assert picker.selector.given.noted == [(2, 0.5)]  # type: ignore[attr-defined]
    picker.select([*"abc"])
    picker.observe({"a": 0.1, "b": 0.2})
    with pytest.raises(
        PauseflError, match="'Noting' failed in round 4, when a latency was corrected: ValueErr"
    ):
        picker.observe_late({"c": 0.7})


def test_a_late_answer_may_be_the_first_that_a_floor_is_learned_from() -> None:
    first = pick("fedavg", dict.fromkeys("ab", 10), latency_floor="auto")
    first.select([*"ab"])
    first.observe({})
    picker = pick("fedavg", dict.fromkeys("ab", 10), latency_floor="auto", timeout=60.0)
    picker.restore(first.state(), changed=["timeout"])
    picker.observe_late({"a": 5.0})
    assert picker.history.latency_floor == 5
    np.testing.assert_allclose(picker.history.mean_latency, [5, 60])
    np.testing.assert_allclose(picker.history.mean_speed, [1, 5 / 60])


@pytest.mark.parametrize("name", ["pause", "clustered_size"])
def test_a_round_in_which_nothing_was_sent_is_cancelled(name: str) -> None:
    picker, untouched = (pick(name, schedule=GeometricSchedule(10.0, 0.5)) for _ in range(2))
    asked = picker.select(CLIENTS)
    picker.cancel()
    assert picker.epsilon == picker.weights() == {}
    assert picker.ledger.spent().max() == 0
    assert picker.select(CLIENTS) == asked == untouched.select(CLIENTS)
    assert picker.epsilon == untouched.epsilon
    picker.cancel(asked[:1])
    assert list(picker.epsilon) == asked[1:] == list(picker.weights())
    assert sum(picker.weights().values()) == pytest.approx(1)
    with pytest.raises(PauseflError, match=f"client '{asked[0]}' was not asked in round 1"):
        picker.cancel(asked[:1])
    picker.observe(dict.fromkeys(asked[1:], 0.3))
    assert [picker.history.participations[picker.index[one]] for one in asked] == [0] + [1] * (len(asked) - 1)
    assert picker.ledger.spent()[picker.index[asked[0]]] == 0


def test_who_left_is_not_asked_and_comes_back_with_the_old_account() -> None:
    clients = {"a": 5, "b": 5, "c": 5}
    picker = pick("fedavg", clients, schedule=UniformSchedule(1.0, 2))
    for _ in range(2):
        picker.observe(dict.fromkeys(picker.select(clients), 0.3))
    picker.join({"d": 5, "e": 5})
    picker.leave(["a", "d"])
    assert picker.select([*"abcde"]) == ["e"]
    picker.observe({"e": 0.1})
    again = pick("fedavg", clients, schedule=UniformSchedule(1.0, 2))
    again.restore(picker.state())
    for one in (picker, again):
        one.join({"f": 1, "d": 7, "a": 9})
        assert one.select([*"abcdef"]) == ["d", "e", "f"]  # nothing of the budget of a is left
        assert one.history.data_size.tolist() == [9, 5, 5, 7, 5, 1]
        one.observe({})
    with pytest.raises(PauseflError, match="client 'x' is not known"):
        picker.leave(["x"])
    with pytest.raises(ConfigError, match="client 'a' is known already"):
        picker.join({"a": 3})


def test_who_leaves_during_a_round_did_not_answer_it() -> None:
    picker = pick("fedavg", dict.fromkeys("abc", 5))
    asked = picker.select([*"abc"])
    picker.leave(["b"])
    picker.observe(dict.fromkeys("ac", 0.5))
    assert asked == ["a", "b", "c"]
    np.testing.assert_allclose(picker.history.mean_latency, [0.5, TIMEOUT, 0.5])


def test_masks_and_texts_are_no_ids() -> None:
    picker = pick("random", dict.fromkeys(range(6), 5))
    for mask in (np.array([True, False] * 3), [True] * 6):
        with pytest.raises(ConfigError, match=r"online has True or False in it.*numpy\.flatnonzero\(mask\)"):
            picker.select(mask)
    assert picker.history.round == 1
    assert pick("fedavg", {True: 3, False: 4}).select([True, False]) == [True, False]
    with pytest.raises(ConfigError, match="online = 'client 1' is one text: give a list of ids"):
        pick().select("client 1")


def test_series_and_iterators_are_taken() -> None:
    picker = pick("oort", pd.Series(CLIENTS))
    asked = picker.select(one for one in CLIENTS)
    seconds = pd.Series(dict(zip(asked, (0.3, 0.2, 0.1), strict=True)))
    picker.observe(seconds, failed=(one for one in asked[2:]), losses=pd.Series(dict.fromkeys(asked, 1.0)))
    users = [picker.index[one] for one in asked]
    np.testing.assert_allclose(picker.history.mean_latency[users], [0.3, 0.2, TIMEOUT])
    numbers = pick("fedavg", pd.Series([5, 6, 7]))
    asked = numbers.select(pd.Index([0, 1, 2]))
    numbers.observe(pd.Series([0.5, 0.6], index=[2, 0]))
    np.testing.assert_allclose(numbers.history.mean_latency, [0.6, TIMEOUT, 0.5])
    twice = pd.Series([0.5, 0.6], index=[asked[0], asked[0]])
    numbers.select(range(3))
    with pytest.raises(ConfigError, match="latency has a client more than once"):
        numbers.observe(twice)
    with pytest.raises(ConfigError, match=r"latency = \[0\.5\] must say it of each client"):
        numbers.observe([0.5])  # type: ignore[arg-type]


def test_an_error_in_a_selector_of_ones_own_names_it_and_the_round() -> None:
    def divides(history: pausefl.History, rng: np.random.Generator) -> Any:
        return history.candidates()[: 3 // (history.round - 2)] if history.round > 1 else [0, 1, 2]

    class Observes(pausefl.Selector):
        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            return history.candidates()[:3]

        def observe(self, feedback: pausefl.Feedback, history: pausefl.History) -> None:
            raise KeyError("gone")

    picker = pick(divides, schedule=UniformSchedule(1.0, 5))
    picker.observe(dict.fromkeys(picker.select(CLIENTS), 0.3))
    with pytest.raises(
        PauseflError,
        match="selector 'divides' failed in round 2, when it selected: ZeroDivisionError: integer",
    ) as caught:
        picker.select(CLIENTS)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert picker.ledger.participations.sum() == 3  # nobody is charged for it
    observing = pick(Observes)
    observing.select(CLIENTS)
    with pytest.raises(
        PauseflError, match="'Observes' failed in round 1, when it observed: KeyError: 'gone'"
    ):
        observing.observe({})


def test_a_picker_says_what_it_is() -> None:
    picker = pick("pause")
    picker.leave(["client 3"])
    picker.select(CLIENTS)
    assert repr(picker) == (
        "<Picker 'pause': 11 clients (1 left), n_selected = 3, latency_floor = 0.05 s, timeout = 2 s,"
        " round 1, 3 asked and not yet observed>"
    )


@pytest.mark.parametrize("name", LEARNING)
def test_a_state_goes_through_json(name: str) -> None:
    ids = {1: 5, "a": 6, ("pair", 2): 7, 1.5: 8, None: 9, "b": 10, "c": 11, "d": 12, "e": 20}
    schedule = None if SELECTORS[name].asks_losses else GeometricSchedule(40.0, 0.1)
    first = pick(name, ids, schedule=schedule, latency_floor="auto")
    play(first, 7)
    first.leave([("pair", 2)])
    play(first, 2)
    first.select(first.ids, dict.fromkeys(ids, 1.0) if first.facts.asks_losses else None)
    text = json.dumps(first.state(plain=True), allow_nan=False)
    second = pick(name, ids, schedule=schedule, latency_floor="auto")
    second.restore(json.loads(text))
    first.observe({})
    assert second.history.latency_floor == first.history.latency_floor < 0.25
    assert second.state().keys() == first.state().keys()
    for key, value in first.state().items():
        np.testing.assert_equal(second.state()[key], value)
    assert play(second, 6) == play(first, 6)


def test_a_floor_that_is_not_learned_yet_is_auto() -> None:
    picker = Picker("random", {"a": 1, "b": 2}, 1, latency_floor="auto", timeout=5)
    assert "latency_floor = auto" in repr(picker)
    (asked,) = picker.select(["a", "b"])
    picker.observe({asked: 0.5})
    assert "latency_floor = 0.5 s" in repr(picker)


def test_what_json_has_not_is_said() -> None:
    picker = pick("random", {frozenset("a"): 3})
    with pytest.raises(PauseflError, match=r"client frozenset\({'a'}\) is a frozenset, which JSON does not"):
        picker.state(plain=True)
    with pytest.raises(PauseflError, match="the saved state lacks 'made'"):
        pick().restore({"arrays": {}})


def test_a_restored_picker_says_what_differs_and_may_have_another_timeout() -> None:
    first = pick("tifl", schedule=GeometricSchedule(40.0, 0.1))
    play(first, 9)
    changed = pick("tifl", schedule=GeometricSchedule(40.0, 0.1), timeout=4.0, n_selected=2)
    words = r"picker with n_selected = 3 \(here 2\)|timeout = 2\.0 \(here 4\.0\)"
    with pytest.raises(PauseflError, match=words) as caught:
        changed.restore(first.state())
    assert "restore(state, changed=['timeout', 'n_selected'])" in str(caught.value)
    changed.restore(first.state(), changed=["timeout", "n_selected"])
    asked = changed.select(CLIENTS)
    assert len(asked) == 2
    assert changed.timeout == 4
    np.testing.assert_array_equal(changed.history.participations, first.history.participations)
    ucb = pick("cs_ucb")
    play(ucb, 3)
    pick("cs_ucb", timeout=3.0).restore(ucb.state(plain=True), changed="timeout")
    with pytest.raises(
        PauseflError, match=r"with schedule = \['GeometricSchedule', 40\.0, 0\.1\] \(here None\)"
    ):
        pick("tifl").restore(first.state(), changed=["timeout"])
    with pytest.raises(ConfigError, match="changed: 'seed' cannot change"):
        changed.restore(first.state(), changed=["seed"])


def test_a_picker_of_a_framework_goes_on_with_another_timeout_or_number_of_clients(tmp_path: Path) -> None:
    first, file = pick("sweep", schedule=GeometricSchedule(40.0, 0.1)), tmp_path / "budgets.json"
    play(first, 4)
    save(first, file)
    again = pick("sweep", schedule=GeometricSchedule(40.0, 0.1))
    assert go_on(again, file) == f"The picker goes on from {file}, in round 5."
    other = pick("sweep", schedule=GeometricSchedule(40.0, 0.1), timeout=60, n_selected=4, over_selection=0.5)
    assert go_on(other, file) == (
        f"The picker goes on from {file}, in round 5, timeout = 60 (it was 2), n_selected = 4 (it was 3),"
        " over_selection = 0.5 (it was None)."
    )
    assert len(other.select(CLIENTS)) == 6
    np.testing.assert_array_equal(other.history.participations, first.history.participations)
    words = "save_to: .*budgets.json: the saved state is of a picker with selector = sweep .here pause."
    with pytest.raises(PauseflError, match=words):
        go_on(pick("pause", schedule=GeometricSchedule(40.0, 0.1), timeout=60.0), file)


def test_the_folder_for_the_state_of_a_picker_is_made_and_a_tilde_is_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = file_of("~/not/there/budgets.json")
    assert file == tmp_path / "not/there/budgets.json"
    save(pick(), file)
    assert file_of(file) == file
    assert file.exists()
    with pytest.raises(
        ConfigError, match=r"save_to: .*budgets\.json/own\.json: its folder cannot be made \("
    ):
        file_of(file / "own.json")


@pytest.mark.parametrize("name", ["pause", "cs_ucb", "bsfl"])
def test_a_floor_that_is_learned_selects_as_if_it_had_been_given(name: str) -> None:
    """The fastest client takes 0.1 s; who is seen first does not matter."""
    given, learned = pick(name, latency_floor=0.1), pick(name, latency_floor="auto")
    assert play(learned, 40) == play(given, 40)
    assert learned.history.latency_floor == 0.1
    np.testing.assert_allclose(learned.history.mean_speed, given.history.mean_speed)


def test_first_answers_alone_lower_the_floor_and_no_further_than_a_share_of_the_timeout() -> None:
    picker = pick("fedavg", dict.fromkeys("abc", 5), latency_floor="auto")
    picker.select([*"abc"])
    picker.observe({"a": 0.4})
    assert picker.history.mean_speed.tolist() == pytest.approx([1, 0.2, 0.2])  # no answer took the timeout
    picker.select([*"abc"])
    picker.observe({"a": 0.3, "b": 0.5})
    assert picker.history.latency_floor == 0.4
    picker.select([*"abc"])
    picker.observe({"a": 0.4, "b": 0.4, "c": 0.2})
    assert picker.history.latency_floor == 0.2
    np.testing.assert_allclose(picker.history.mean_speed[0], 0.5)  # all three answers of a count as 0.4
    picker.join({"d": 5})
    picker.select(["d"])
    picker.observe({"d": 0.0})
    assert picker.history.latency_floor == pytest.approx(1e-4 * TIMEOUT)


def test_a_floor_cannot_be_learned_for_a_selector_that_is_made_from_it() -> None:
    class ByFloor(pausefl.Selector):
        def __init__(self, latency_floor: float) -> None:
            self.floor = latency_floor

        def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
            return history.candidates()[:3]

    with pytest.raises(ConfigError, match="'auto': selector 'ByFloor' is made from the floor, so give a num"):
        pick(ByFloor, latency_floor="auto")
    with pytest.raises(ConfigError, match=r"latency_floor = 'atuo' must be above 0 .*or 'auto'"):
        pick(latency_floor="atuo")


@pytest.mark.parametrize(
    ("scale", "floor", "words"),
    [
        (1000.0, FLOOR, r"\d+ of the first \d+ latencies are at or above timeout = 2 s"),
        (1000.0, "auto", r"\d+ of the first \d+ latencies are at or above timeout = 2 s"),
        (1.0, 1.9, r"\d+ of the first \d+ latencies are at or below latency_floor = 1\.9 s"),
        (1.0, FLOOR, ""),
        (1.0, "auto", ""),
    ],
)
def test_a_wrong_unit_is_said_once(scale: float, floor: Any, words: str) -> None:
    picker = pick("pause", latency_floor=floor)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(20):
            asked = picker.select(CLIENTS)
            picker.observe({one: scale * (0.1 + 0.07 * picker.index[one]) for one in asked})
    assert len(caught) == bool(words)
    for warning in caught:
        assert Path(warning.filename).name == Path(__file__).name
        assert re.match(words + ", and so count as equal: selector 'pause' cannot", str(warning.message))


def test_slow_clients_are_no_mistake() -> None:
    picker = pick("fedavg", dict.fromkeys("abcd", 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(9):
            picker.select([*"abcd"])
            picker.observe({"a": 9.0, "b": 0.01, "c": 0.3})  # and d fails


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"over_selection": -0.1}, r"over_selection = -0\.1 must be a number from 0 to 10, or None"),
        ({"over_selection": "1"}, "over_selection = '1' must be a number"),
        (
            {"selector": "pow_d", "n_candidates": 4, "over_selection": 0.5},
            "n_candidates = 4 must be at least the 5 who are asked",
        ),
    ],
)
def test_an_over_selection_that_cannot_be(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        pick(**changes)


def test_a_line_says_that_kernels_are_compiled_and_only_then(tmp_path: Path) -> None:
    script = tmp_path / "own_kernel.py"
    script.write_text(
        "import numba\nfrom pausefl.compiling import njit\n\n\n"
        "@numba.njit\ndef of_others(x):\n    return x\n\n\n"
        "@njit(cache=True)\ndef kernel(x):\n    return x + 1\n\n\n"
        "of_others(1)\nprint('theirs', flush=True)\nkernel(1)\nkernel(1.5)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, script], env=environment, text=True, stdout=-1, stderr=-2, check=True
        ).stdout
        for _ in range(2)
    ]
    assert said == [
        "theirs\nCompiling functions for the first time: this takes 5 to 20 s, once.\n",
        "theirs\n",
    ]


def test_seconds_beyond_all_measure_leave_the_means_finite() -> None:
    picker = pick("fedavg", dict.fromkeys("ab", 5), latency_floor="auto")
    picker.select([*"ab"])
    picker.observe({"a": 1e300, "b": 0.0})
    assert all(math.isfinite(value) for value in picker.history.mean_speed)


def test_one_client_who_is_behind_does_not_have_newcomers_asked_alone() -> None:
    picker = pick("sweep", dict.fromkeys(range(20), 10), n_selected=2)
    for t in range(60):
        asked = picker.select([*range(20)] if t == 59 else [*range(19)])
        picker.observe(dict.fromkeys(asked, 0.3))
    picker.join(dict.fromkeys(range(100, 110), 10))
    seen = set[Any]()
    for _ in range(10):
        asked = picker.select(picker.ids)
        picker.observe(dict.fromkeys(asked, 0.3))
        seen |= set(asked)
    assert any(one < 20 for one in seen)


def test_an_answer_is_learned_once_and_only_of_the_last_round_of_a_client() -> None:
    """Client c misses two rounds, and one answer is told twice; d misses one and answers the next."""
    picker = pick("fedavg", dict.fromkeys("abcd", 10), over_selection=0.5, n_selected=2)
    for more in ({}, {"d": 0.3}):
        picker.select([*"abcd"])
        picker.observe({"a": 0.1, "b": 0.2, **more})
    picker.select([*"ab"])
    picker.observe({"a": 0.1, "b": 0.2, "c": 0.5})
    picker.select([*"ab"])
    for one in "cd":
        with pytest.raises(
            PauseflError, match=f"client '{one}' was not asked in round 4, and no answer of an"
        ):
            picker.observe({"a": 0.1, one: 0.5})
    picker.observe_late({"c": 0.7, "d": 0.9})
    assert picker.history.mean_latency.tolist() == pytest.approx([0.1, 0.2, 0.6, 0.6])


def test_a_late_answer_may_set_the_floor_in_observe_too() -> None:
    first = pick("fedavg", dict.fromkeys("ab", 10), latency_floor="auto", timeout=5.0)
    first.select([*"ab"])
    first.observe({})
    picker = pick("fedavg", dict.fromkeys("abc", 10), latency_floor="auto", timeout=30.0)
    first.join({"c": 10})
    picker.restore(first.state(), changed=["timeout"])
    picker.select([*"bc"])
    picker.observe({"c": 20.0, "b": 15.0, "a": 6.0})
    assert picker.history.latency_floor == 6
    np.testing.assert_allclose(picker.history.mean_latency, [6, 22.5, 20])


@pytest.mark.parametrize("n", range(1, 12))
def test_who_never_answered_does_not_answer_by_rounding(n: int) -> None:
    """The timeout goes from 20 s to 5 s, where corrections of n rounds may round down, and to 200 s."""
    first, second, third = (
        pick("fedavg", {"a": 10}, latency_floor="auto", timeout=t) for t in (20.0, 5.0, 200.0)
    )
    for _ in range(n):
        first.select(["a"])
        first.observe({})
    second.restore(first.state(), changed=["timeout"])
    third.restore(second.state(), changed=["timeout"])
    assert (second.history.mean_latency[0], third.history.mean_latency[0]) == (5, 200)
    assert third.history.mean_speed[0] == 1
    second.select(["a"])
    second.observe({"a": 2.0})
    assert second.history.latency_floor == 2


def test_another_timeout_leaves_the_seconds_of_a_last_round_that_was_answered() -> None:
    first, second = (
        pick("oort", dict.fromkeys("abc", 10), over_selection=0.1, n_selected=2, timeout=t)
        for t in (30.0, 16.0)
    )
    first.select([*"abc"])
    first.observe({})
    first.select([*"abc"])
    first.observe({"a": 3.0, "c": 25.0}, losses={"a": 1.0, "c": 1.0})
    second.restore(first.state(), changed=["timeout"])
    assert second.selector.duration.tolist() == [3, 16, 25]  # what b would have taken is not known
