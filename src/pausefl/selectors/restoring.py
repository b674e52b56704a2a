"""Whether a selector can go on from what it remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pausefl.errors import PauseflError
from pausefl.selectors.base import Selector
from pausefl.selectors.making import Checked
from pausefl.states import saved


def check_remembered(selector: Selector, state: Mapping[str, Any], n_users: int, round: int) -> None:
    """Raise `PauseflError`, naming the array, unless a selector can go on from what is remembered.

    Of a selector that only lists names it is only looked at whether the arrays are there.

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
    checked = selector.given if isinstance(selector, Checked) else selector
    remembered = getattr(checked, "remembered", ())
    for name in remembered:
        if not isinstance(state.get(name), np.ndarray):
            raise PauseflError(
                f"the saved state lacks '{name}', an array that {type(checked).__name__} remembers"
            )
        if not isinstance(remembered, Mapping):
            continue
        kind, least, most, below, lengths = remembered[name]
        if below:
            most = (round if below == "round" else getattr(checked, below)) - 1
        fresh = not state[name].size and "K" in lengths  # before the first round
        shape = [n_users if length == "K" else length for length in lengths]
        saved(state, name, kind, state[name].shape if fresh else shape, least, most)
