"""What a training loop says of its clients, looked at before it is taken over."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from pausefl.errors import ConfigError, PauseflError


def ids_of(what: str, given: object) -> list[Hashable]:
    """Several clients as a list; `PauseflError` if they are none: nothing, a single text, or no ids."""
    if given is None or isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise PauseflError(f"{what} = {given!r:.80} must be the ids of clients, as a list")
    ids = list(given)
    for one in ids:
        try:
            hash(one)
        except TypeError:
            raise PauseflError(f"{what} has {one!r:.80}, which is no id: ids are hashable") from None
    return ids


def by_client(what: str, given: object) -> Mapping[Hashable, Any]:
    """Something of each client; `PauseflError` if it is no mapping."""
    if not isinstance(given, Mapping):
        raise PauseflError(f"{what} = {given!r:.80} must say it of each client: {{client: {what}}}")
    return given


def number_of(measured: Any) -> float:
    """A measured number, also of NumPy or PyTorch; NaN if it is none: a truth value, a text, too large."""
    try:
        return float(measured) if is_number(measured) else math.nan
    except (OverflowError, RuntimeError, TypeError, ValueError):
        return math.nan


def is_number(given: object) -> bool:
    """Whether something can be a number, or an array of numbers: no truth value, and no text."""
    kind = str(getattr(given, "dtype", ""))
    return not (
        isinstance(given, str | bytes | bytearray | bool) or "bool" in kind or kind[:2] in ("<U", "|S")
    )


def seed_of(given: object) -> int:
    """A seed of random streams, as jobs have it; `ConfigError` if it is none."""
    whole = isinstance(given, int | np.integer) or (isinstance(given, float | np.floating) and given % 1 == 0)
    if whole and not isinstance(given, bool | np.bool_):
        seed = int(given)  # type: ignore[call-overload]
        if 0 <= seed < (2**63 if isinstance(given, int | np.integer) else 2**53):
            return int(seed)
    raise ConfigError(f"seed = {given!r:.80} must be a whole number of at least 0, below 2^63")


def check_picker_state(state: object) -> None:
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
    for name in ("asked", "guessed"):
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
