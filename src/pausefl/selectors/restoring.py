"""Whether what selectors remembered, and what a picker knew of clients, can be; before it is taken over."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from pausefl.errors import PauseflError
from pausefl.selectors.base import Selector
from pausefl.selectors.making import Checked
from pausefl.states import saved


class _Array(NamedTuple):
    """Type, bounds and shape of what is remembered."""

    kind: type[np.generic]
    least: float = -1e300
    most: float = 1e300
    #: K for the number of users; None for any.
    shape: tuple[str | int | None, ...] = ("K",)


#: By class and name.
_REMEMBERED: dict[tuple[str, str], _Array] = {
    ("Sweep", "last_round"): _Array(np.int64, 0),
    ("Tifl", "tier"): _Array(np.int64, 0),
    ("CsUcbQ", "queue"): _Array(np.float64, 0),
    ("PowerOfChoice", "loss"): _Array(np.float64, most=math.inf),
    ("Oort", "utility"): _Array(np.float64),
    ("Oort", "duration"): _Array(np.float64, 0),
    ("Oort", "last"): _Array(np.int64, 0),
    ("Oort", "gained"): _Array(np.float64, shape=(2,)),
    ("Oort", "percentile"): _Array(np.float64, 0, 100, ()),
    ("ClusteredBySimilarity", "direction"): _Array(np.float32, -1.001, 1.001, ("K", None)),
    ("ClusteredBySimilarity", "cosine"): _Array(np.float32, -1.001, 1.001, ("K", "K")),
}
#: The largest value of whole numbers that count rounds, or tiers.
_ROUNDS, _TIERS = frozenset({"last_round", "last"}), frozenset({"tier"})


def check_remembered(selector: Selector, state: Mapping[str, Any], n_users: int, round: int) -> None:
    """Raise `PauseflError`, naming the array, unless a selector can go on from what is remembered.

    Of a selector of a user's own it is only looked at whether the arrays are there.

    Parameters
    ----------
    selector
        The one that is to go on.
    state
        What `Selector.state` returned.
    n_users
        K.
    round
        The coming one, from 1.
    """
    own = selector.given if isinstance(selector, Checked) else selector
    for name in getattr(own, "remembered", ()):
        if not isinstance(state.get(name), np.ndarray):
            raise PauseflError(
                f"the saved state lacks '{name}', an array that {type(own).__name__} remembers"
            )
        known = next(
            (
                _REMEMBERED[part.__name__, name]
                for part in type(own).__mro__
                if (part.__name__, name) in _REMEMBERED
            ),
            None,
        )
        if known is None or not type(own).__module__.startswith("pausefl."):
            continue
        most = known.most
        if name in _ROUNDS:
            most = round - 1
        elif name in _TIERS:
            most = getattr(own, "n_tiers", 1) - 1
        fresh = not state[name].size and "K" in known.shape  # before the first round
        shape = [n_users if length == "K" else length for length in known.shape]
        saved(state, name, known.kind, state[name].shape if fresh else shape, known.least, most)  # type: ignore[arg-type]


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
