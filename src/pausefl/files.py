"""Folders that results are written to."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pausefl.errors import PauseflError


def check_writable(folder: Path) -> None:
    """Make a folder and try to write to it; `PauseflError` says why that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise PauseflError(f"cannot write to output folder {folder}: {error.strerror}") from None
