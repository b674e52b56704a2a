"""What a training loop says of its clients: a sentence for what it cannot be, and nothing is learned."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from pausefl import Picker
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.picker.given import seconds_of, seed_of
from pausefl.settings import Scenario


def picker(selector: Any = "random", **more: Any) -> Picker:
    return Picker(selector, {"a": 1, "b": 2, "c": 3}, 2, 0.05, 2.0, **more)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda asking: asking.select(None), "online = None must be the ids of clients, as a list"),
        (lambda asking: asking.select(5), "online = 5 must be the ids"),
        (lambda asking: asking.select("ab"), "online = 'ab' is one text"),
        (lambda asking: asking.select([["a"]]), r"online has \['a'\], which is no id"),
        (lambda asking: asking.select([np.zeros(1)]), "online has .*, which is no id"),
        (lambda asking: asking.select(["a", "d"]), "client 'd' is not known"),
    ],
)
def test_who_is_online_is_looked_at(act: Callable[[Picker], object], words: str) -> None:
    asking = picker()
    before = pickle.dumps(asking.state())
    with pytest.raises(PauseflError, match=words):
        act(asking)
    assert pickle.dumps(asking.state()) == before
    assert len(asking.select({"a": 0, "b": 0})) == 2  # of a mapping its keys, as of any collection


NO_TIMES = [
    *(True, False, np.True_, np.array(True), torch.tensor(True)),
    *(b"1", "1", "1_0", "0.5", np.array("1"), 1j, None, [1, 2], {}),
    *(10**400, -1, float("nan"), float("inf"), Decimal("NaN")),
]


@pytest.mark.parametrize("measured", NO_TIMES, ids=repr)
def test_a_time_that_is_none_is_refused(measured: Any) -> None:
    made = picker()
    asked = made.select(["a", "b"])
    before = pickle.dumps(made.state())
    with pytest.raises(PauseflError, match=r"latency of client 'a' = .* must be a number of at least 0"):
        made.observe({"a": measured, "b": 0.1})
    assert pickle.dumps(made.state()) == before
    assert asked == ["a", "b"]


@pytest.mark.parametrize(
    "measured",
    [0.5, 1, np.float32(0.5), np.int8(1), np.array(0.5), torch.tensor(0.5), Decimal("0.5"), Fraction(1, 2)],
    ids=repr,
)
def test_a_number_of_any_kind_is_a_time(measured: Any) -> None:
    made = picker()
    made.select(["a", "b"])
    made.observe({"a": measured, "b": 0.1})
    assert made.history.mean_latency[0] == float(measured) == seconds_of(measured)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"latency": None}, "latency = None must say it of each client"),
        ({"latency": [0.1, 0.2]}, r"latency = \[0\.1, 0\.2\] must say it of each client"),
        ({"latency": 0.1}, "latency = 0.1 must say it"),
        ({"latency": {"a": 0.1}, "failed": None}, "failed = None must be the ids"),
        ({"latency": {"a": 0.1}, "failed": "b"}, "failed = 'b' is one text"),
        ({"latency": {"a": 0.1}, "failed": [["b"]]}, "which is no id"),
        ({"latency": {"a": 0.1}, "losses": [0.3]}, "losses = .* must say it of each client"),
        ({"latency": {"a": 0.1}, "losses": {"a": "0_3"}}, "losses of client 'a' = '0_3' must be a number"),
        ({"latency": {"a": 0.1}, "losses": {"a": True}}, "losses of client 'a' = True must be a number"),
        ({"latency": {"a": 0.1}, "losses": {"a": b"1"}}, "losses of client 'a' = b'1' must be a number"),
    ],
)
def test_what_was_measured_is_looked_at(given: dict[str, Any], words: str) -> None:
    made = picker("oort")
    made.select(["a", "b"])
    before = pickle.dumps(made.state())
    with pytest.raises(PauseflError, match=words):
        made.observe(**given)
    assert pickle.dumps(made.state()) == before


def test_updates_are_numbers() -> None:
    made = picker("clustered_similarity")
    asked = made.select(["a", "b"])
    for wrong in (np.array([True, False]), np.array(["1", "2"]), "12"):
        with pytest.raises(PauseflError, match=f"updates of client '{asked[0]}' = .* must be numbers"):
            made.observe(dict.fromkeys(asked, 0.1), updates=dict.fromkeys(asked, wrong))


@pytest.mark.parametrize("seed", [2**53, 2**53 + 1, 2**63 - 1, np.int64(2**62)])
def test_a_large_seed_is_that_of_a_job(demo: Scenario, seed: int) -> None:
    """To the last digit, which a float would not keep."""
    law = demo.network.make_latency()
    simulation = selection_only(demo.replace(privacy=None), "random", int(seed))
    sizes = dict(enumerate(simulation.history.data_size.tolist()))
    made = Picker("random", sizes, 3, demo.network.latency_floor, 9.0, seed=seed)
    rounds = simulation.run(10).rounds["selection"]
    assert [made.select(sizes) for _ in range(10)] == [users.tolist() for users in rounds]
    assert seed_of(2**53 + 1) - seed_of(2**53) == 1
    assert law is not None


@pytest.mark.parametrize("seed", [-1, 2**63, 10**400, 0.5, float(2**53), float("nan"), True, "1", None])
def test_a_seed_that_cannot_be_is_refused(seed: Any) -> None:
    with pytest.raises(ConfigError, match=r"seed = .* must be a whole number of at least 0, below 2\^63"):
        picker(seed=seed)


def test_truth_values_are_no_numbers_of_examples() -> None:
    with pytest.raises(ConfigError, match="data_size of client 'a' = True must be a whole number"):
        Picker("random", {"a": True, "b": 2}, 1, 0.05, 2.0)
    with pytest.raises(ConfigError, match="n_selected = True must be a whole number"):
        Picker("random", {"a": 1, "b": 2}, True, 0.05, 2.0)
