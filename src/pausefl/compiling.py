"""Numba's compiler, which keeps what it compiled on the disk wherever there is a place for it."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from pausefl.errors import ConfigError

try:
    import numba
    from numba.core import event
except ValueError as error:  # of its variables, as NUMBA_NUM_THREADS=0
    of_numba = ", ".join(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
    raise ConfigError(f"Numba cannot be loaded with {of_numba}: {error}") from None


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with a temporary cache where it could be neither beside the module nor in one's home."""

    def compiled(function: Callable[..., Any]) -> Any:
        compiler = numba.njit(**options)
        try:
            kernel = compiler(function)
        except RuntimeError:  # of Numba, which finds no folder that can be written to
            _keep_temporarily()
            kernel = compiler(function)
        _WAIT.kernels.add(function)
        return kernel

    return compiled


class _Wait(event.Listener):
    """Says once that somebody has to wait, when the first kernel of pausefl is compiled and not read."""

    def __init__(self) -> None:
        self.kernels: set[Callable[..., Any]] = set()
        self.said = False

    def on_start(self, event: event.Event) -> None:
        """A function is about to be compiled."""
        if not self.said and event.data["dispatcher"].py_func in self.kernels:
            self.said = True
            print("Compiling functions for the first time: this takes 5 to 20 s, once.", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """It was compiled."""


_WAIT = _Wait()
event.register("numba:compile", _WAIT)  # type: ignore[no-untyped-call]


def _keep_temporarily() -> None:
    """Have Numba keep what it compiles until this process ends, for it and the processes that it starts."""
    _WAIT.said = True  # the line below says so
    folder = tempfile.mkdtemp(prefix="pausefl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder  # type: ignore[attr-defined]
    print(
        "Compiled functions cannot be kept, and each start takes some 15 s longer: to keep them, set"
        " NUMBA_CACHE_DIR to a folder that can be written to",
        file=sys.stderr,
    )
