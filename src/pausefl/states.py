"""Saved states: each array is looked at before it is taken over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PauseflError

#: The largest finite number, so that infinite ones are refused unless they are asked for.
_LARGEST = float(np.finfo(np.float64).max)


def saved(
    state: Mapping[str, Any],
    name: str,
    kind: type[np.generic],
    shape: Sequence[int | None],
    least: float = -_LARGEST,
    most: float = _LARGEST,
    nan: bool = False,
) -> NDArray[Any]:
    """A copy of an array of a saved state.

    Parameters
    ----------
    state
        Arrays by name.
    name
        Which one.
    kind
        Type of its values.
    shape
        Its shape, None for a length that may be any.
    least, most
        Bounds of its values, both allowed; infinite ones must be asked for.
    nan
        Whether NaN is allowed, too.

    Raises
    ------
    PauseflError
        If there is none, or it is no such array; the message names it.
    """
    if name not in state:
        raise PauseflError(f"the saved state lacks '{name}'")
    array, asked = state[name], np.dtype(kind).name
    if not isinstance(array, np.ndarray) or array.dtype != kind:
        what = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise PauseflError(f"'{name}' of the saved state is {what}, and must be an array of {asked}")
    fits = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(length not in (None, own) for own, length in fits):
        wanted = tuple("any" if length is None else length for length in shape)
        raise PauseflError(
            f"'{name}' of the saved state has the shape {array.shape}, and must have"
            f" {str(wanted).replace(chr(39), '')}"
        )
    wrong = np.zeros(0)
    if kind is not np.bool_:
        if array.dtype.kind == "f":  # no bound overflows
            largest = float(np.finfo(array.dtype).max)
            least, most = (
                one if np.isinf(one) else float(np.clip(one, -largest, largest)) for one in (least, most)
            )
        wrong = array[~((array >= least) & (array <= most)) & ~(nan & np.isnan(array))].ravel()
    if len(wrong):
        raise PauseflError(f"'{name}' of the saved state has {wrong[0]}, and must have {_range(least, most)}")
    return array.copy()


def _range(least: float, most: float) -> str:
    """Bounds in words."""
    if least <= -1e30:
        return "finite values" if 1e30 < most < np.inf else f"values of at most {most:g}"
    if most > 1e30:
        return f"{'finite ' if most < np.inf else ''}values of at least {least:g}"
    return f"values from {least:g} to {most:g}"
