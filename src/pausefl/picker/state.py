"""The state of a picker in other forms: as plain JSON, and as what two pickers are compared by."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.privacy.schedule import NUMBER

#: Arrays by name, and the ids of clients.
State = dict[str, Any]


def comparable(value: Any) -> Any:
    """A number, a text, an array as lists; of an object its class, and the fields of a dataclass."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (*NUMBER, np.ndarray, list, tuple)):
        return np.asarray(value, np.float64).tolist()
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return [type(value).__name__, *(comparable(getattr(value, field.name)) for field in fields)]


def to_json(state: State) -> State:
    """A state in dictionaries with texts as keys, lists, texts and finite numbers; undone by `from_json`.

    `PauseflError` if an id is not a text, a number, True, False, None or a tuple of these.
    """
    clients = state["clients"]
    return {
        "made": state["made"],
        "ids": [_to_json_id(one) for one in clients["data_size"]],
        "clients": {name: [*values.values()] for name, values in clients.items()},
        **{name: [_to_json_id(one) for one in state[name]] for name in ("asked", "guessed", "left")},
        "late": [[_to_json_id(one), least] for one, least in state["late"].items()],
        "latency_floor": state["latency_floor"],
        "arrays": {path: _array(value) for path, value in state.items() if isinstance(value, np.ndarray)},
    }


def from_json(saved: State) -> State:
    """The state that `to_json` wrote."""
    ids = [_from_json_id(one) for one in saved["ids"]]
    return {
        "made": saved["made"],
        "clients": {name: dict(zip(ids, own, strict=True)) for name, own in saved["clients"].items()},
        **{name: [_from_json_id(one) for one in saved[name]] for name in ("asked", "guessed", "left")},
        "late": {_from_json_id(one): least for one, least in saved["late"]},
        "latency_floor": saved["latency_floor"],
        **{path: _values(one) for path, one in saved["arrays"].items()},
    }


def _to_json_id(one: Hashable) -> Any:
    if isinstance(one, np.generic):
        one = one.item()
    if isinstance(one, tuple):
        return [_to_json_id(part) for part in one]
    if one is None or isinstance(one, (str, int, float)):
        return one
    raise PauseflError(
        f"client {one!r} is a {type(one).__name__}, which JSON does not have: save the state by pickle, or"
        " call clients by texts or numbers"
    )


def _from_json_id(one: Any) -> Hashable:
    return tuple(_from_json_id(part) for part in one) if isinstance(one, list) else one


def _array(array: NDArray[Any]) -> dict[str, Any]:
    """An array; numbers that are not finite are texts, since JSON has none."""
    values = array.ravel().tolist()
    if array.dtype.kind == "f":
        values = [value if math.isfinite(value) else str(value) for value in values]
    return {"dtype": array.dtype.name, "shape": [*array.shape], "values": values}


def _values(saved: dict[str, Any]) -> NDArray[Any]:
    dtype = np.dtype(saved["dtype"])
    values = [float(value) if dtype.kind == "f" else value for value in saved["values"]]
    return np.array(values, dtype).reshape(saved["shape"])
