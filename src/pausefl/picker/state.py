"""The state of a picker: whether it can be, and what two pickers are compared by."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from pausefl.errors import PauseflError
from pausefl.picker.given import is_real
from pausefl.privacy.schedule import NUMBER
from pausefl.schema.base import shortened

#: Arrays by name, and the ids of clients.
State = dict[str, Any]

#: What is known of a client from the start: in a state, as arguments of the picker, and in the history.
OF_CLIENTS = ("data_size", "quality", "cluster")
#: Lists of clients that a state has.
LISTS = ("asked", "guessed", "left")


class Late(NamedTuple):
    """A round that a client was asked in, and that its answer has not come to."""

    round: int
    #: The least seconds that the answer can have taken: those after which the round ended.
    least: float
    #: The seconds that the round counted, which was the timeout then.
    counted: float
    #: Which of the client's participations it was, from 1.
    nth: int


def check_state(state: object) -> None:
    """Raise `PauseflError`, naming the entry, unless it can be what a picker goes on from.

    Arrays of the history and of the ledger are looked at where they are taken over.
    """
    if not isinstance(state, Mapping):
        raise PauseflError(f"state = {shortened(state)} must be what Picker.state returned, a mapping")
    if not isinstance(state.get("made", {}), Mapping):
        raise PauseflError("'made' of the saved state must be a mapping")
    if lacking := [name for name in ("clients", "asked") if name not in state]:
        raise PauseflError(f"the saved state lacks '{lacking[0]}'")
    clients = state["clients"]
    if not isinstance(clients, Mapping) or not all(
        isinstance(clients.get(name), Mapping) for name in OF_CLIENTS
    ):
        raise PauseflError("'clients' of the saved state must have data_size, quality and cluster by client")
    ids = [*clients["data_size"]]
    for name in OF_CLIENTS:
        if [*clients[name]] != ids:
            raise PauseflError(f"'clients' of the saved state: {name} is of other clients than data_size")
        for one, value in clients[name].items():
            if not _can_be(name, value):
                raise PauseflError(
                    f"'clients' of the saved state: {name} of client {shortened(one)} cannot be"
                    f" {shortened(value)}"
                )
    late, floor = state.get("late", {}), state.get("latency_floor", 1.0)  # which older states lack
    wrong = [] if _are_seconds(floor) else [("latency_floor", floor)]
    if isinstance(late, Mapping):
        rounds = [one for own in late.values() for one in listed_late(own)]
        wrong += [("late", one) for one in rounds if not _can_be_late(one)]
    else:
        wrong += [("late", late)]
    for name, value in wrong:
        raise PauseflError(f"'{name}' of the saved state cannot have {shortened(value)}, in seconds above 0")
    if unknown := [one for one in late if one not in ids]:
        raise PauseflError(
            f"'late' of the saved state has client {shortened(unknown[0])}, who is none of its clients"
        )
    for name in LISTS:
        if not isinstance(some := state.get(name, ()), list | tuple):
            raise PauseflError(f"'{name}' of the saved state must be a list of clients")
        for i, one in enumerate(some):
            if one not in ids or one in some[:i]:
                why = "twice" if one in some[:i] else "who is none of its clients"
                raise PauseflError(f"'{name}' of the saved state has client {shortened(one)}, {why}")


def listed_late(own: Any) -> Any:
    """What a state has of a client's rounds without an answer; earlier versions saved the seconds alone."""
    return own if isinstance(own, list | tuple) else [own]


def _can_be_late(saved: Any) -> bool:
    """Whether something can be the fields of a `Late`, or the least seconds alone."""
    if not isinstance(saved, list | tuple):
        return _are_seconds(saved)
    if len(saved) != len(Late._fields) or not all(map(_are_seconds, saved)):
        return False
    late = Late(*saved)
    return late.round % 1 == late.nth % 1 == 0 and late.least <= late.counted


def _are_seconds(value: object) -> bool:
    """Whether something is a finite number above 0."""
    return is_real(value) and bool(value > 0)  # type: ignore[operator]


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


def is_same(saved: object, own: object) -> bool:
    """Whether two pickers were made with the same; earlier versions saved large seeds as floats."""
    if isinstance(saved, float) and isinstance(own, int):
        return saved == float(own)
    return bool(saved == own)


def comparable(value: Any) -> Any:
    """A number, a text, an array as lists; of an object its class, and the fields of a dataclass."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | np.integer) and abs(int(value)) >= 2**53:  # of a seed, which no float has
        return int(value)
    if isinstance(value, (*NUMBER, np.ndarray, list, tuple)):
        return np.asarray(value, np.float64).tolist()
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return [type(value).__name__, *(comparable(getattr(value, field.name)) for field in fields)]
