"""What strategies of frameworks share: clients whose sizes come with their answers, and a saved state."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path

import numpy as np

from pausefl.errors import ConfigError, PauseflError
from pausefl.files import path_of, write_text
from pausefl.picker.picker import CHANGEABLE, Picker


def join_new(picker: Picker, ids: Iterable[Hashable]) -> list[Hashable]:
    """Have those join that a picker does not know; returns them.

    They count as having the mean number of examples of those that told theirs, until `learn_sizes`.
    """
    new = [one for one in ids if one not in picker.index]
    picker.join(dict.fromkeys(new, _mean_size(picker)))
    picker.size_guessed.update(new)
    return new


def learn_sizes(picker: Picker, sizes: Mapping[Hashable, int]) -> None:
    """Take over numbers of examples that clients told, and their mean for those that have not yet."""
    picker.resize(sizes)
    picker.size_guessed.difference_update(sizes)
    picker.resize(dict.fromkeys(picker.size_guessed, _mean_size(picker)))


def file_of(save_to: str | os.PathLike[str]) -> Path:
    """The file for a picker's state, in a folder that is made if it is not there."""
    file = path_of(save_to)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"save_to: {file}: its folder cannot be made ({error.strerror})") from None
    return file


def save(picker: Picker, file: Path) -> None:
    """Write a picker's state as JSON."""
    write_text(file, json.dumps(picker.state(plain=True)))


def go_on(picker: Picker, file: Path) -> str:
    """Have a picker go on from what `save` wrote; `PauseflError` names the file if it cannot.

    Its timeout and the numbers of clients may differ from those of the one that was saved. Returns a line
    for a log, which says so.
    """
    try:
        state = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PauseflError(f"save_to: {file} cannot be read: {error}") from None
    try:
        picker.restore(state, changed=CHANGEABLE)
    except PauseflError as error:
        raise PauseflError(f"save_to: {file}: {error}") from None
    before, now = state.get("made", {}), picker.state()["made"]
    differ = [name for name in CHANGEABLE if name in before and before[name] != now[name]]
    told = [f"{name} = {_shown(now[name])} (it was {_shown(before[name])})" for name in differ]
    return ", ".join([f"The picker goes on from {file}, in round {picker.history.round}", *told]) + "."


def _shown(number: float | None) -> str:
    return "None" if number is None else f"{number:g}"


def _mean_size(picker: Picker) -> int:
    sizes = zip(picker.ids, picker.history.data_size.tolist(), strict=True)
    known = [size for one, size in sizes if one not in picker.size_guessed]
    return round(np.mean(known)) if known else 1
