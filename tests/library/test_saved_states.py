"""States that somebody changed: every entry is looked at, named, and nothing of them is taken over."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scenarios import changed

import pausefl
from pausefl import GeometricSchedule, Picker
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.checkpoint import Saving
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.federated.simulation import Simulation
from pausefl.plugins import arguments
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario
from pausefl.states import saved
from pausefl.streams import Streams
from pausefl.testing.contract import SELECTION as NEEDED
from pausefl.training.engine import Trainer
from pausefl.training.sizes import model_layout

K = 12
SELECTING = ["pause", "sweep", "tifl", "cs_ucb_q", "oort", "power_of_choice", "clustered_similarity"]


def wrong(array: np.ndarray[Any, Any]) -> Iterator[tuple[str, object]]:
    """What an array cannot be, whichever it is."""
    yield "nothing", None
    yield "a number", 5
    yield "a list", array.tolist()
    yield "objects", np.full(array.shape, None)
    yield "texts", np.full(array.shape, "1")
    yield "complex", array.astype(complex)
    if array.dtype != np.bool_:
        yield "bools", np.ones(array.shape, np.bool_)
    if array.dtype.kind in "ib":
        yield "floats", array.astype(np.float64) + 0.5
    if array.dtype.kind == "i" and array.size:
        yield "below 0", np.full_like(array, -1)
    if array.dtype.kind == "f":
        yield "whole numbers", np.ones(array.shape, np.int64)
        if array.size:
            yield "NaN", np.full_like(array, np.nan)
    if array.ndim and len(array):
        yield "short", array[:-1]
        yield "long", np.concatenate([array, array[-1:]])
    yield "an axis more", array[np.newaxis]


def picker(selector: str, **more: Any) -> Picker:
    needed = arguments(SELECTORS[selector])
    options = {name: value for name, value in NEEDED.items() if name in needed} | more
    return Picker(selector, {f"c{k}": 10 + k for k in range(K)}, 3, 0.05, 2.0, **options)


def played(selector: str, n_rounds: int = 9) -> Picker:
    player = picker(selector, schedule=GeometricSchedule(40.0, 0.05))
    rng = np.random.default_rng(0)
    for _ in range(n_rounds):
        asked = player.select(player.ids)
        told = {
            "latency": {one: rng.uniform(0.1, 1) for one in asked},
            "losses": dict.fromkeys(asked, 0.5),
            "updates": {one: rng.normal(size=4) for one in asked},
        }
        player.observe(**told)
    return player


@pytest.mark.parametrize("selector", SELECTING)
def test_a_picker_names_what_cannot_be_and_stays_as_it_was(selector: str) -> None:
    state = played(selector).state()
    second = picker(selector, schedule=GeometricSchedule(40.0, 0.05))
    before, n_tried = pickle.dumps(second.state()), 0
    for name, array in state.items():
        if not isinstance(array, np.ndarray):
            continue
        for what, value in wrong(array):
            # An infinite loss is one that nobody reported; nothing else is.
            with pytest.raises(PauseflError) as error:
                second.restore(state | {name: value})
            assert name.rpartition("/")[2] in str(error.value), (name, what, error.value)
            n_tried += 1
        if name in ("history/since", "history/ahead"):  # which states of earlier versions lack
            continue
        with pytest.raises(PauseflError, match=f"lacks '{name.rpartition('/')[2]}'"):
            second.restore({key: one for key, one in state.items() if key != name})
    assert n_tried > 50
    assert pickle.dumps(second.state()) == before
    second.restore(state)
    assert pickle.dumps(second.state()) == pickle.dumps(played(selector).state())


def _clients(**changes: dict[str, Any]) -> Callable[[Any], Any]:
    def change(state: dict[str, Any]) -> dict[str, Any]:
        clients = state["clients"]
        return state | {"clients": {name: clients[name] | changes.get(name, {}) for name in clients}}

    return change


def _put(**changes: Any) -> Callable[[Any], Any]:
    return lambda state: state | changes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: 5, "state = 5 must be what Picker.state returned"),
        (lambda state: None, "state = None must be"),
        (lambda state: [state], "must be what Picker.state returned, a mapping"),
        (lambda state: {}, "lacks 'clients'"),
        (_put(made=3), "'made' of the saved state must be a mapping"),
        (_put(clients={"data_size": {"c0": 1}}), "'clients' of the saved state must have data_size, quality"),
        (_put(clients=[1]), "'clients' of the saved state must have"),
        (_clients(data_size={"c3": 12.5}), r"data_size of client 'c3' cannot be 12\.5"),
        (_clients(data_size={"c3": True}), "data_size of client 'c3' cannot be True"),
        (_clients(data_size={"c3": 0}), "data_size of client 'c3' cannot be 0"),
        (_clients(data_size={"c3": 2**53}), "data_size of client 'c3' cannot be 9007199254740992"),
        (_clients(quality={"c3": 1.1}), r"quality of client 'c3' cannot be 1\.1"),
        (_clients(quality={"c3": float("nan")}), "quality of client 'c3' cannot be nan"),
        (_clients(cluster={"c3": -1}), "cluster of client 'c3' cannot be -1"),
        (_clients(cluster={"x": 0}), "cluster is of other clients than data_size"),
        (_put(asked=5), "'asked' of the saved state must be a list"),
        (_put(asked=["nobody"]), "'asked' of the saved state has client 'nobody', who is none"),
        (_put(asked=[["c1"]]), "'asked' of the saved state has client"),
        (_put(asked=["c1", "c1"]), "'asked' of the saved state has client 'c1', twice"),
        (_put(asked=["c1"]), "'participations' and 'history/participations' of the saved state do not agree"),
        (_put(left="c1"), "'left' of the saved state must be a list"),
        (_put(left=["nobody"]), "'left' of the saved state has client 'nobody', who is none"),
        (_put(late={"nobody": 0.2}), "'late' of the saved state has client 'nobody', who is none"),
        (_put(late={"c1": -0.2}), r"'late' of the saved state cannot have -0\.2"),
        (_put(late={"c1": True}), "'late' of the saved state cannot have True"),
        (_put(late=[0.2]), r"'late' of the saved state cannot have \[0\.2\]"),
        *(
            (_put(late={"c1": [late]}), "'late' of the saved state cannot have ")
            for late in (
                [],
                [1, 0.2, 2.0],
                [1, 0.2, "2", 1],
                [1.5, 0.2, 2.0, 1],
                [1, 3.0, 2.0, 1],
                [0, 1, 2, 1],
            )
        ),
        *(
            (
                _put(late={"c1": rounds}),
                "'late' of the saved state has rounds of client 'c1' that do not agree",
            )
            for rounds in ([[99, 0.2, 2.0, 1]], [[1, 0.2, 2.0, 99]], [[1, 0.2, 1e6, 1]])
        ),
        (_put(latency_floor=float("nan")), "'latency_floor' of the saved state cannot have nan"),
        (_put(latency_floor=0), "'latency_floor' of the saved state cannot have 0"),
        (_put(guessed={"c1": 3}), "'guessed' of the saved state must be a list"),
        (_put(**{"history/round": np.array(2)}), "'participations' of the saved state has [2-9]"),
        (_put(**{"history/mean_speed": np.full(K, 1.5)}), r"'mean_speed' .* has 1\.5, .* from 0 to 1"),
        (_put(**{"history/mean_latency": np.full(K, np.inf)}), "'mean_latency' .* has inf, .* at least 0"),
        (_put(**{"history/privacy": np.full(K, -0.1)}), r"'privacy' of the saved state has -0\.1"),
        (_put(**{"selector/last_round": np.full(K, 99)}), "'last_round' .* has 99, .* from 0 to 9"),
        (_put(**{"nonsense/x": np.zeros(1)}), "'nonsense'"),
    ],
)
def test_other_entries_of_a_picker_are_looked_at(change: Callable[[Any], Any], words: str) -> None:
    second = picker("sweep", schedule=GeometricSchedule(40.0, 0.05))
    before = pickle.dumps(second.state())
    with pytest.raises(PauseflError, match=words):
        second.restore(change(played("sweep").state()))
    assert pickle.dumps(second.state()) == before


@pytest.mark.parametrize("floor", [0.05, "auto"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"latency_floor": 1e300}, r"'latency_floor' of the saved state (is 1e\+300|has 1e\+300, more than)"),
        ({"latency_floor": 10**400}, "'latency_floor' of the saved state cannot have 1000"),
        ({"late": {"c1": 10**400}}, "'late' of the saved state cannot have 1000"),
        ({"late": {"c1": 2.5}}, r"'late' of the saved state has 2\.5, more than the timeout of 2 s"),
    ],
)
def test_seconds_of_a_state_are_those_of_the_picker(floor: Any, change: dict[str, Any], words: str) -> None:
    def made() -> Picker:
        return Picker("sweep", {f"c{k}": 10 + k for k in range(K)}, 3, floor, 2.0)

    first = made()
    first.select(first.ids)
    first.observe({})
    second = made()
    before = pickle.dumps(second.state())
    with pytest.raises(PauseflError, match=words):
        second.restore(first.state() | change)
    assert pickle.dumps(second.state()) == before
    second.restore(first.state())


def test_a_fixed_floor_is_that_of_the_picker() -> None:
    first = picker("sweep")
    with pytest.raises(
        PauseflError, match=r"'latency_floor' of the saved state is 4\.0, .* this picker 0\.05"
    ):
        first.restore(first.state() | {"latency_floor": 4.0})
    assert first.history.latency_floor == 0.05


def test_a_learned_floor_follows_a_shorter_timeout() -> None:
    first, second = (Picker("sweep", {"a": 1, "b": 2}, 1, "auto", timeout) for timeout in (9.0, 3.0))
    asked = first.select(first.ids)
    first.observe({})
    second.restore(first.state(), changed=["timeout"])
    assert second.history.latency_floor == 3
    assert second.state()["late"][asked[0]] == [[1, 3.0, 3.0, 1]]
    Picker("sweep", {"a": 1, "b": 2}, 1, "auto", 3.0).restore(second.state())


@pytest.mark.parametrize("floor", [0.05, "auto"])
@pytest.mark.parametrize("timeout", [60.0, 1.0])
def test_who_never_answered_is_as_slow_as_the_timeout_is_now(timeout: float, floor: Any) -> None:
    """Client a is fast, b answers one round of two, and c and d never did; e was not asked."""
    first, second = (Picker("fedavg", dict.fromkeys("abcde", 9), 2, floor, own) for own in (2.0, timeout))
    for more in ({"b": 0.8}, {}):
        first.select([*"abcd"])
        first.observe({"a": 0.1, **more})
    second.restore(first.state(), changed=["timeout"])
    history, least = second.history, second.history.latency_floor
    silent = min(2.0, timeout)
    np.testing.assert_allclose(history.mean_latency, [0.1, (0.8 + silent) / 2, timeout, timeout, 0])
    speed = (least / 0.8 + least / silent) / 2
    np.testing.assert_allclose(history.mean_speed, [least / 0.1, speed, least / timeout, least / timeout, 0])
    second.select([*"e"])
    second.observe({"e": 0.3, "d": 0.5})  # an answer after its round had waited for the former timeout
    assert history.mean_latency[3] == pytest.approx((timeout + silent) / 2)
    third = Picker("fedavg", dict.fromkeys("abcde", 9), 2, floor, timeout)
    third.restore(second.state())
    assert pickle.dumps(third.state()) == pickle.dumps(second.state())


def test_a_longer_timeout_after_nobody_answered_is_as_if_it_had_been_so_from_the_start() -> None:
    first, second, always = (
        Picker("fedavg", dict.fromkeys("abc", 9), 2, "auto", own) for own in (2.0, 60.0, 60.0)
    )
    for picker in (first, always):
        for _ in range(2):
            picker.select([*"ab"])
            picker.observe({})
    second.restore(first.state(), changed=["timeout"])
    assert "latency_floor = auto, timeout = 60 s" in repr(second)
    for picker in (second, always):
        picker.select([*"abc"])
        picker.observe({"a": 20.0, "c": 10.0})
    assert second.history.latency_floor == 10
    for name in ("mean_latency", "mean_speed"):
        np.testing.assert_allclose(getattr(second.history, name), getattr(always.history, name))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize(("timeout", "forgetting"), [(5.0, 0.0), (60.0, 0.0), (1.5, 0.0), (60.0, 0.5)])
def test_a_late_answer_corrects_what_its_round_counted_whatever_the_timeout_is_now(
    timeout: float, forgetting: float, earlier: bool, plain: bool
) -> None:
    first, second, third = (
        Picker("fedavg", dict.fromkeys("abc", 9), 2, 0.05, own, over_selection=0.5, forgetting=forgetting)
        for own in (5.0, timeout, timeout)
    )
    for seconds in (1.0, None):
        first.select([*"abc"])
        first.observe({"a": 0.3, "b": 0.4} | ({} if seconds is None else {"c": seconds}))
    state = first.state(plain)
    if earlier:  # versions that saved the least seconds alone
        late = state["late"]
        state["late"] = [["c", late[0][1][0][1]]] if plain else {"c": late["c"][0][1]}
    second.restore(state, changed=["timeout"])
    second.select([*"ab"])
    second.observe({"a": 0.3, "b": 0.4, "c": 1.4})
    assert second.history.mean_latency[2] == pytest.approx(1.2)
    assert second.history.mean_speed[2] == pytest.approx((0.05 / 1.0 + 0.05 / 1.4) / 2)
    third.restore(second.state(plain))


@pytest.mark.parametrize(("own", "others"), [(2**53, 2**53 + 1), (2**63 - 1, 2**63 - 2)])
def test_large_seeds_stay_what_they_are(own: int, others: int) -> None:
    for plain in (False, True):
        state = picker("sweep", seed=own).state(plain)
        assert state["made"]["seed"] == own
        picker("sweep", seed=own).restore(json.loads(json.dumps(state)) if plain else state)
        with pytest.raises(PauseflError, match=f"seed = {own} .here {others}"):
            picker("sweep", seed=others).restore(state)
        state["made"]["seed"] = float(own)  # as earlier versions have it
        picker("sweep", seed=own).restore(state)


def _deep(n: int = 3000) -> list[Any]:
    made: list[Any] = []
    for _ in range(n):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        *(
            (name, None, f"'{name}' of the saved state")
            for name in ("made", "ids", "clients", "arrays", "late")
        ),
        ("ids/0", {"a": 1}, "'ids' of the saved state has {'a': 1}, which is no client"),
        ("ids/0", _deep(), "'ids' of the saved state has"),
        ("ids/0", "c1", "'ids' of the saved state has client 'c1' twice"),
        ("made/selector", _deep(), "the saved state is of a picker with selector = "),
        ("clients/quality", 5, "'clients' of the saved state: quality must be a list"),
        ("clients/quality", [1.0], "'clients' of the saved state: quality must be a list with .* the 12"),
        ("clients/quality/0", "1", "quality of client 'c0' cannot be '1'"),
        ("asked", 5, "'asked' of the saved state must be a list, and is 5"),
        ("late", [5], r"'late' of the saved state has 5, and must have lists \[client, rounds\]"),
        ("late", [["c1", 10**400]], "'late' of the saved state cannot have 1000"),
        ("latency_floor", 10**400, "'latency_floor' of the saved state cannot have 1000"),
        ("latency_floor", "0.05", "'latency_floor' of the saved state cannot have '0.05'"),
        (
            "arrays/participations",
            5,
            "'participations' of the saved state must be a mapping with dtype, shape",
        ),
        ("arrays/participations", {"dtype": "int64"}, "'participations' .* and lacks shape, values"),
        *(
            ("arrays/participations/dtype", dtype, "'participations' of the saved state has dtype = ")
            for dtype in (None, "object", "int6", 5, [], "complex128")
        ),
        *(
            ("arrays/participations/shape", shape, "'participations' of the saved state has shape = ")
            for shape in (None, -5, [-1], [True], [12.0])
        ),
        (
            "arrays/participations/shape",
            [3],
            "'participations' of the saved state must have a list of 3 values",
        ),
        ("arrays/participations/values", 5, "'participations' of the saved state must have a list of 12"),
        *(
            ("arrays/participations/values/1", value, "'participations' .* as value 2, and must have a whole")
            for value in (5.9, True, None, "5", 2**63, float("inf"), 10**400, [1], "nan", float("nan"))
        ),
        *(
            (
                "arrays/history/mean_speed/values/0",
                value,
                "'history/mean_speed' .* as value 1, and must have a",
            )
            for value in ("0.2", True, None, 10**400, "x", [0.2], {})
        ),
        *(
            ("arrays/history/mean_speed/values/0", value, "'mean_speed' of the saved state has ")
            for value in ("nan", "inf", -0.5)
        ),
        *(
            ("arrays/history/available/values/0", value, "'history/available' .* must have true or false")
            for value in ("x", 1, 0.0, None, "true")
        ),
    ],
)
def test_a_plain_state_names_the_entry_and_nothing_is_read_as_something_else(
    path: str, value: Any, words: str
) -> None:
    state = json.loads(json.dumps(played("sweep").state(plain=True)))
    part, _, rest = path.partition("/")
    keys = [part, *rest.split("/")] if rest else [part]
    if part == "arrays" and rest.startswith("history"):
        keys = [part, *rest.rsplit("/", 2)]
    place = state
    for key in keys[:-1]:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(keys[-1]) if isinstance(place, list) else keys[-1]] = value
    second = picker("sweep", schedule=GeometricSchedule(40.0, 0.05))
    before = pickle.dumps(second.state())
    with pytest.raises(PauseflError, match=words):
        second.restore(state)
    assert pickle.dumps(second.state()) == before


def test_numbers_of_another_program_are_numbers() -> None:
    """JavaScript writes 1.0 as 1, and R writes 1 as 1.0."""
    first = played("sweep")
    state = first.state(plain=True)
    for one in state["arrays"].values():
        if one["dtype"] == "int64":
            one["values"] = [float(value) for value in one["values"]]
        if one["dtype"] == "float64":
            one["values"] = [int(value) if value == int(value) else value for value in one["values"]]
    second = picker("sweep", schedule=GeometricSchedule(40.0, 0.05))
    second.restore(state)
    assert pickle.dumps(second.state()) == pickle.dumps(first.state())


def test_a_round_under_way_and_clients_who_joined_are_restored_as_before() -> None:
    first = played("sweep")
    first.join({"late": 7})
    first.select(first.ids)
    second = picker("sweep", schedule=GeometricSchedule(40.0, 0.05))
    second.restore(first.state())
    assert second.ids == first.ids
    first.observe({})
    assert first.select(first.ids) == second.select(second.ids)


class Counts(pausefl.Selector):
    """Remembers what no selector of the package does."""

    remembered = ("seen", "names")

    def __init__(self) -> None:
        self.seen, self.names = np.full(3, np.nan), np.array(["a"])

    def __call__(self, history: pausefl.History, rng: np.random.Generator) -> Any:
        return history.candidates()[: history.n_selected]

    def restore(self, state: Any) -> None:
        super().restore(state)
        1 / int(self.seen[0] != 9)


def test_a_selector_of_ones_own_may_remember_anything() -> None:
    first = Picker(Counts(), {"a": 1, "b": 2}, 1, 0.05, 2.0)
    state = first.state()
    Picker(Counts(), {"a": 1, "b": 2}, 1, 0.05, 2.0).restore(state)
    for broken in ({"selector/seen": None}, {"selector/names": 5}):
        name = next(iter(broken)).partition("/")[2]
        with pytest.raises(PauseflError, match=f"lacks '{name}', an array that Counts remembers"):
            first.restore(state | broken)


@pytest.fixture(scope="module")
def simulation(demo: Scenario, digits: Dataset, share_out: Callable[..., Partition]) -> Any:
    """Make simulations of a selector, with training or without."""

    def made(selector: str) -> Simulation:
        scenario = changed(demo, selection=NEEDED, network={"round_latency_max": 9.0})
        share, streams = share_out(scenario), Streams(0)
        trainer = Trainer(scenario.model, scenario.training, digits, share, streams, torch.device("cpu"))
        layout = model_layout(scenario.model, digits)
        return Simulation(scenario, selector, streams, share, layout, trainer)

    return made


#: Simulated quantities that need not be finite, and what a user's moments may be if its model diverged.
MAY_BE_NAN = re.compile(
    r"rows/(reward|pseudo_regret|train_loss|accuracy|loss)|trainer/(first|second)/\d+|rows/leakage_\w+"
)


@pytest.mark.parametrize("selector", ["oort", "clustered_similarity"])
def test_the_state_of_a_job_is_looked_at(simulation: Any, selector: str) -> None:
    first = simulation(selector)
    first.run(5)
    state = {name: array.copy() for name, array in first.state().items()}
    moments = [name for name in state if name.startswith("trainer/")]
    assert moments
    tried = set[str]()
    for name, array in state.items():
        if name in moments[3:]:
            continue
        for what, value in wrong(array):
            if what in ("NaN", "bools", "whole numbers", "complex") and MAY_BE_NAN.fullmatch(name):
                continue
            second = simulation(selector)
            with pytest.raises((PauseflError, KeyError)) as error:
                second.restore({**state, name: value})
            assert name.rpartition("/")[2] in str(error.value) or "trainer" in name, (name, what, error.value)
            tried.add(name)
    assert len(tried) > 20
    second = simulation(selector)
    second.restore({**state})
    assert second.run(8).rounds["accuracy"].tolist() == first.run(8).rounds["accuracy"].tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"history/mean_latency": np.r_[np.nan, np.ones(K - 1)]},
            "'mean_latency' of the saved state has nan",
        ),
        ({"loop/elapsed": np.array(3.0)}, "'elapsed_s', 'latency_s' and 'elapsed' of the saved state differ"),
        ({"loop/elapsed": np.array(np.inf)}, "'elapsed' of the saved state has inf"),
        ({"loop/diverged_round": np.array(7)}, "'diverged_round' of the saved state has 7"),
        ({"rows/selection": np.zeros(15, np.int64)}, "'selection' and 'participations' of the saved state"),
        ({"rows/round": np.arange(5)}, "'round' of the saved state must have 1 to 5"),
        ({"ledger/participations": np.zeros(K, np.int64)}, "'participations' of the saved ledger"),
        ({"ledger/refused": np.array([[1, 99]])}, "'refused' of the saved state has 99"),
        ({"trainer/first/-1": np.zeros(9, np.float32)}, "'first/-1' of the saved state is of no moment"),
        ({"trainer/first/99": np.zeros(9, np.float32)}, "'first/99' of the saved state is of no moment"),
    ],
)
def test_what_contradicts_itself_is_named(simulation: Any, change: dict[str, Any], words: str) -> None:
    first = simulation("pause")
    first.run(5)
    with pytest.raises(PauseflError, match=words):
        simulation("pause").restore({**first.state(), **change})


def test_a_model_that_diverged_goes_on(simulation: Any) -> None:
    first = simulation("pause")
    first.run(2)
    first.theta[0], first.diverged_round = np.nan, 2
    second = simulation("pause")
    second.restore(first.state())
    assert np.isnan(second.theta[0])
    first.diverged_round = None
    with pytest.raises(PauseflError, match="'theta' of the saved state has nan"):
        simulation("pause").restore(first.state())


def test_a_job_says_which_file_and_entry_is_damaged(
    demo: Scenario, digits: Dataset, share_out: Callable[..., Partition], tmp_path: Path
) -> None:
    def stops(t: int) -> None:
        if t == 3:
            raise InterruptedError

    arguments = Job(demo, "random", 0, 6, device="cpu"), digits, share_out(demo), tmp_path
    with pytest.raises(InterruptedError):
        run_job(*arguments, on_round=stops, saving=Saving(interval=0.0))
    file = tmp_path / "state.npz"
    with np.load(file) as archive:
        state = {name: archive[name] for name in archive.files}
    state["history/mean_latency"][2] = np.nan
    np.savez(file, **state)
    words = (
        r"state\.npz is damaged \('mean_latency' of the saved state has nan, .*\)\. Use another folder, or"
    )
    with pytest.raises(ConfigError, match=words):
        run_job(*arguments)
    assert not (tmp_path / "summary.json").exists()
    run_job(*arguments, saving=Saving(restart=True))
    assert (tmp_path / "summary.json").exists()


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({}, "finite values"),
        ({"least": 0}, "finite values of at least 0"),
        ({"least": 0, "most": np.inf}, "values of at least 0"),
        ({"most": 3}, "values of at most 3"),
        ({"least": 1, "most": 3}, "values from 1 to 3"),
    ],
)
def test_the_message_says_what_must_be(bounds: dict[str, float], words: str) -> None:
    with pytest.raises(PauseflError, match=f"'x' of the saved state has nan, and must have {words}$"):
        saved({"x": np.array([1.0, np.nan])}, "x", np.float64, (2,), **bounds)
    given = np.array([1.0, 2.0])
    found = saved({"x": given}, "x", np.float64, (None,), **bounds)
    given[0] = 7
    assert found.tolist() == [1.0, 2.0]
