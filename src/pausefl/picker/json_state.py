"""The state of a picker as plain JSON; what comes back is looked at before it is made an array."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.picker.state import LISTS, OF_CLIENTS, State
from pausefl.schema.base import shortened

#: The kinds of arrays, and what their values must be.
_KINDS = {"b": "true or false", "i": "a whole number", "u": "a whole number", "f": "a number", "U": "a text"}
#: Numbers that JSON does not have, as texts.
_NOT_FINITE = ("nan", "inf", "-inf")
#: Tuples in each other that an id may be made of.
_DEEPEST = 20


def to_json(state: State) -> State:
    """A state in dictionaries with texts as keys, lists, texts and finite numbers; undone by `from_json`.

    `PauseflError` if an id is not a text, a number, True, False, None or a tuple of these.
    """
    clients = state["clients"]
    return {
        "made": state["made"],
        "ids": [_to_json_id(one) for one in clients["data_size"]],
        "clients": {name: [*values.values()] for name, values in clients.items()},
        **{name: [_to_json_id(one) for one in state[name]] for name in LISTS},
        "late": [[_to_json_id(one), rounds] for one, rounds in state["late"].items()],
        "latency_floor": state["latency_floor"],
        "arrays": {path: _array(value) for path, value in state.items() if isinstance(value, np.ndarray)},
    }


def from_json(saved: Mapping[str, Any]) -> State:
    """The state that `to_json` wrote; `PauseflError` names the entry that cannot be."""
    for name in ("made", "ids", "clients", *LISTS, "late", "latency_floor", "arrays"):
        if name not in saved:
            raise PauseflError(f"the saved state lacks '{name}'")
    for name, kind, what in (
        *((name, dict, "a mapping") for name in ("made", "clients", "arrays")),
        *((name, list, "a list") for name in ("ids", *LISTS, "late")),
    ):
        if not isinstance(saved[name], kind):
            raise PauseflError(f"'{name}' of the saved state must be {what}, and is {shortened(saved[name])}")
    ids = [_from_json_id("ids", one) for one in saved["ids"]]
    if len({*ids}) < len(ids):
        twice = next(one for i, one in enumerate(ids) if one in ids[:i])
        raise PauseflError(f"'ids' of the saved state has client {shortened(twice)} twice")
    for name in OF_CLIENTS:
        own = saved["clients"].get(name)
        if not isinstance(own, list) or len(own) != len(ids):
            raise PauseflError(
                f"'clients' of the saved state: {name} must be a list with a value of each of the"
                f" {len(ids)} clients"
            )
    for pair in saved["late"]:
        if not isinstance(pair, list) or len(pair) != 2:
            raise PauseflError(
                f"'late' of the saved state has {shortened(pair)}, and must have lists [client, rounds]"
            )
    return {
        "made": saved["made"],
        "clients": {name: dict(zip(ids, saved["clients"][name], strict=True)) for name in OF_CLIENTS},
        **{name: [_from_json_id(name, one) for one in saved[name]] for name in LISTS},
        "late": {_from_json_id("late", one): rounds for one, rounds in saved["late"]},
        "latency_floor": saved["latency_floor"],
        **{path: _values(path, one) for path, one in saved["arrays"].items()},
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


def _from_json_id(name: str, one: Any, depth: int = 0) -> Hashable:
    if isinstance(one, list) and depth < _DEEPEST:
        return tuple(_from_json_id(name, part, depth + 1) for part in one)
    if one is None or isinstance(one, str | int | float):
        return one
    raise PauseflError(f"'{name}' of the saved state has {shortened(one)}, which is no client")


def _array(array: NDArray[Any]) -> dict[str, Any]:
    """An array; numbers that are not finite are texts, since JSON has none."""
    values = array.ravel().tolist()
    if array.dtype.kind == "f":
        values = [value if math.isfinite(value) else str(value) for value in values]
    return {"dtype": array.dtype.name, "shape": [*array.shape], "values": values}


def _values(path: str, saved: Any) -> NDArray[Any]:
    """An array that `_array` wrote, of the entry ``path``."""

    def refuse(why: str) -> PauseflError:
        return PauseflError(f"'{path}' of the saved state {why}")

    if not isinstance(saved, dict) or (lacking := {"dtype", "shape", "values"} - {*saved}):
        lacks = "" if not isinstance(saved, dict) else f", and lacks {', '.join(sorted(lacking))}"
        raise refuse(f"must be a mapping with dtype, shape and values{lacks}")
    name, shape, values = saved["dtype"], saved["shape"], saved["values"]
    try:
        dtype = np.dtype(name) if isinstance(name, str) else None
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or dtype.kind not in _KINDS:
        raise refuse(f"has dtype = {shortened(name)}, which is no type of its numbers")
    if not isinstance(shape, list) or not all(type(one) is int and one >= 0 for one in shape):
        raise refuse(f"has shape = {shortened(shape)}, which must be a list of lengths")
    if not isinstance(values, list) or len(values) != math.prod(shape):
        raise refuse(f"must have a list of {shortened(math.prod(shape))} values, as its shape says")
    for i, value in enumerate(values):
        if not _can_be(value, dtype):
            raise refuse(
                f"has {shortened(value)} as value {i + 1}, and must have {_KINDS[dtype.kind]} of type {dtype}"
            )
    if dtype.kind == "f":
        values = [float(value) for value in values]
    return np.array(values, dtype).reshape(shape)


def _can_be(value: object, dtype: np.dtype[Any]) -> bool:
    """Whether a value of JSON can be one of an array of a type, and stays what it is."""
    if dtype.kind in "bU" or isinstance(value, bool | str):
        text = isinstance(value, str) and (dtype.kind == "U" or (dtype.kind == "f" and value in _NOT_FINITE))
        return text or (dtype.kind == "b" and isinstance(value, bool))
    if not isinstance(value, int | float):
        return False
    if dtype.kind == "f":
        finite = isinstance(value, int) or math.isfinite(value)
        return not finite or abs(value) <= float(np.finfo(dtype).max)
    limits = np.iinfo(dtype)
    return (isinstance(value, int) or value.is_integer()) and limits.min <= value <= limits.max
