"""Whether what a selector of pausefl remembered can be; of a user's own, only that it is there."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
