"""The state of a picker in other forms: as plain JSON, and as what two pickers are compared by."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.privacy.schedule import NUMBER

#: Arrays by name, and the ids of clients.
State = dict[str, Any]


def check_state(state: object) -> None:
    """Raise `PauseflError`, naming the entry, unless it can be what a picker goes on from.

    Arrays of the history and of the ledger are looked at where they are taken over.
    """
    if not isinstance(state, Mapping):
        raise PauseflError(f"state = {state!r:.80} must be what Picker.state returned, a mapping")
    if not isinstance(state.get("made", {}), Mapping):
        raise PauseflError("'made' of the saved state must be a mapping")
    if lacking := [name for name in ("clients", "asked") if name not in state]:
        raise PauseflError(f"the saved state lacks '{lacking[0]}'")
    clients = state["clients"]
    kinds = ("data_size", "quality", "cluster")
    if not isinstance(clients, Mapping) or not all(isinstance(clients.get(name), Mapping) for name in kinds):
        raise PauseflError("'clients' of the saved state must have data_size, quality and cluster by client")
    ids = [*clients["data_size"]]
    for name in kinds:
        if [*clients[name]] != ids:
            raise PauseflError(f"'clients' of the saved state: {name} is of other clients than data_size")
        for one, value in clients[name].items():
            if not _can_be(name, value):
                raise PauseflError(
                    f"'clients' of the saved state: {name} of client {one!r:.40} cannot be {value!r:.40}"
                )
    late = state.get("late", {})  # older states lack it, and a floor
    times = [("latency_floor", state.get("latency_floor", 1.0))]
    times += [("late", value) for value in (late.values() if isinstance(late, Mapping) else [late])]
    for name, value in times:
        number = isinstance(value, NUMBER) and not isinstance(value, bool)
        if not number or not 0 < value < math.inf:
            raise PauseflError(f"'{name}' of the saved state cannot have {value!r:.40}, in seconds above 0")
    if unknown := [one for one in late if one not in ids]:
        raise PauseflError(
            f"'late' of the saved state has client {unknown[0]!r:.40}, who is none of its clients"
        )
    for name in ("asked", "guessed", "left"):
        if not isinstance(some := state.get(name, ()), list | tuple):
            raise PauseflError(f"'{name}' of the saved state must be a list of clients")
        for i, one in enumerate(some):
            if one not in ids or one in some[:i]:
                why = "twice" if one in some[:i] else "who is none of its clients"
                raise PauseflError(f"'{name}' of the saved state has client {one!r:.40}, {why}")


def _can_be(name: str, value: object) -> bool:
    """Whether a value can be a client's quality, size or cluster."""
    if isinstance(value, bool | np.bool_):
        return False
    if name == "quality":
        return isinstance(value, int | float | np.integer | np.floating) and bool(0 <= value <= 1)
    return isinstance(value, int | np.integer) and bool((name == "data_size") <= value < 2**53)


def check_counts(asked: Collection[int], of_ledger: Any, of_history: Any) -> None:
    """Raise `PauseflError` unless participations (K,) differ just by the round that is under way."""
    expected = of_history.copy()
    expected[[*asked]] += 1
    if (of_ledger != expected).any():
        raise PauseflError("'participations' and 'history/participations' of the saved state do not agree")


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
