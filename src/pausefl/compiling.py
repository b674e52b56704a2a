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
except ValueError as error:  # of its variables, as NUMBA_NUM_THREADS=0
    of_numba = ", ".join(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
    raise ConfigError(f"Numba cannot be loaded with {of_numba}: {error}") from None


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with a temporary cache where it could be neither beside the module nor in one's home."""

    def compiled(function: Callable[..., Any]) -> Any:
        compiler = numba.njit(**options)
        try:
            return compiler(function)
        except RuntimeError:  # of Numba, which finds no folder that can be written to
            _keep_temporarily()
        return compiler(function)

    return compiled


def _keep_temporarily() -> None:
    """Have Numba keep what it compiles until this process ends, for it and the processes that it starts."""
    folder = tempfile.mkdtemp(prefix="pausefl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    numba.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder  # type: ignore[attr-defined]
    print(
        "Compiled functions cannot be kept, and each start takes some 15 s longer: to keep them, set"
        " NUMBA_CACHE_DIR to a folder that can be written to",
        file=sys.stderr,
    )
