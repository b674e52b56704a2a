"""A project of one's own to begin with: `start_project` writes it."""

from __future__ import annotations

import shutil
from pathlib import Path

from pausefl.errors import PauseflError
from pausefl.files import check_writable

_FILES = Path(__file__).with_name("files")


def start_project(folder: Path) -> list[Path]:
    """The files that it writes into a folder, relative to it, in the order of their names.

    They are a Snakefile that uses the workflow of the installed package, its configuration, a scenario on the
    built-in digits, a selector and a test of it.

    Raises
    ------
    PauseflError
        If the folder has a file of one of these names, or cannot be written.
    """
    names = sorted(path.relative_to(_FILES) for path in _FILES.rglob("*") if _is_wanted(path))
    if there := [name for name in names if (folder / name).exists()]:
        raise PauseflError(
            f"{folder / there[0]} is there already, and nothing was written: name another folder"
        )
    check_writable(folder)
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_FILES / name, folder / name)
    return names


def _is_wanted(path: Path) -> bool:
    """Whether it is a file of the project, and none that Python has made of it."""
    return path.is_file() and path.parent.name != "__pycache__"
