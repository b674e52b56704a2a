"""Ways to train: every backend gives a user the same examples, optimiser steps and dropout masks.

Their updates differ by rounding only.
"""

from __future__ import annotations

from pausefl.errors import PauseflError
from pausefl.training.backends.base import Backend
from pausefl.training.backends.dense import Dense
from pausefl.training.backends.one_by_one import OneByOne
from pausefl.training.backends.stacked import Stacked

#: The fastest first.
BACKENDS: dict[str, type[Backend]] = {"kernels": Dense, "one_by_one": OneByOne, "stacked": Stacked}


def fastest_backend(device: str, family: str, regression: bool) -> type[Backend]:
    """The backend for models of a family on a type of device; `PauseflError` if there is none."""
    for one in BACKENDS.values():
        if device in one.devices and family in one.families and (one.regression or not regression):
            return one
    raise PauseflError(f"no training backend for {family} models on device '{device}'")
