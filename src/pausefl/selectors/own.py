"""Selectors of a user's own: what they return is checked in every round, and what they raise names them."""

from __future__ import annotations

import copy
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.registry.own import OwnPartError
from pausefl.registry.selectors import SelectorRecord
from pausefl.selectors.base import Selector, Users
from pausefl.settings import Scenario


def fault(returned: Any, history: History, record: SelectorRecord) -> str:
    """What is wrong with what a selector returned, in words that follow "returned"; empty if nothing is."""
    if not isinstance(returned, np.ndarray):
        return "None" if returned is None else f"a {type(returned).__name__}, {returned!r:.80},"
    if returned.ndim != 1 or returned.dtype != np.int64:
        return f"an array of shape {returned.shape} and type {returned.dtype}"
    n_users, n_available = len(history.available), np.count_nonzero(history.available)
    if len(returned) and not 0 <= returned.min() <= returned.max() < n_users:
        return f"ids from {returned.min()} to {returned.max()}, of {n_users} users from 0,"
    if not history.available[returned].all():
        return f"user {returned[~history.available[returned]][0]}, who has no budget left,"
    steps = np.diff(returned)
    if (steps < 0).any():
        return f"ids that do not ascend, {returned.tolist()!s:.80},"
    if (steps == 0).any() and not record.uniform_weights:
        return f"user {returned[:-1][steps == 0][0]} twice (which needs the attribute uniform_weights = True)"
    if record.own_number:
        return "" if len(returned) else "nobody"
    wanted = n_available if record.takes_everyone else history.n_selected
    if len(returned) == wanted:
        return ""
    return f"{len(returned)} users and not {wanted} (which needs the attribute own_number = True)"


def refused(name: str, what: str, history: History, hint: str = "") -> OwnPartError:
    """The error of a `fault`."""
    return OwnPartError(
        f"returned {what} in round {history.round}. Return the ids of history.n_selected of the"
        f" history.candidates(), each once and ascending, as an int64 array{hint}",
        f"selector '{name}'",
    )


def read_only(history: History) -> History:
    """The history with arrays that cannot be changed by mistake."""
    shown = copy.copy(history)
    for key, value in vars(history).items():
        if isinstance(value, np.ndarray):
            view = value.view()
            view.flags.writeable = False
            setattr(shown, key, view)
    return shown


def users_line(error: Exception, cls: type) -> tuple[str, str]:
    """File and line of a class, or beside it, where an error comes from, and the traceback from there on."""
    folder = Path(getattr(sys.modules.get(cls.__module__), "__file__", None) or __file__).parent
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [i for i, frame in enumerate(frames) if Path(frame.filename).parent == folder]
    line = frames[theirs[-1] if theirs else -1]
    shown = frames[theirs[0] :] if theirs else []
    return f"{Path(line.filename).name}, line {line.lineno}", "".join(traceback.format_list(shown))


@dataclass(frozen=True)
class Watched:
    """What a record of a user's own selector loads: it builds the selector so that it is watched."""

    cls: type[Selector]
    name: str
    record: SelectorRecord

    def build(self, scenario: Scenario) -> Selector:
        """Build the selector for a scenario; it remains an object of its class.

        `OwnPartError` if its code raises anything but a `PauseflError`, or makes something else.
        """
        with self.named("when it was built"):
            made = self.cls.build(scenario)
        if not isinstance(made, Selector):
            raise OwnPartError(
                f"has a build that made {made!r:.80}, no pausefl.Selector", f"selector '{self.name}'"
            )
        kind = type(made)
        watched = type(kind.__name__, (_Watching, kind), {_BY: self, "__module__": kind.__module__})
        object.__setattr__(made, "__class__", watched)  # past a class that forbids it, such as a frozen one
        return made

    @contextmanager
    def named(self, when: str) -> Iterator[None]:
        """Have an error inside the block say which selector it is of, when it was, and the user's line."""
        try:
            yield
        except (PauseflError, MemoryError):
            raise
        except Exception as error:  # whatever a user's code raises
            place, trace = users_line(error, self.cls)
            why = f"failed {when}: {place}: {type(error).__name__}: {error}\n{trace}"
            raise OwnPartError(why.rstrip(), f"selector '{self.name}'") from None


class _Watching(Selector):
    """What stands before the methods of a user's own class."""

    __by: ClassVar[Watched]

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        by = self.__by
        with by.named(f"in round {history.round}, when it selected"):
            users = super().__call__(read_only(history), rng)  # type: ignore[safe-super]
        if what := fault(users, history, by.record):
            raise refused(by.name, what, history, f". Try: pausefl check --selector {by.name}")
        return users

    def observe(self, feedback: Feedback, history: History) -> None:
        with self.__by.named(f"in round {history.round}, when it observed"):
            super().observe(feedback, read_only(history))

    def state(self) -> dict[str, NDArray[np.generic]]:
        with self.__by.named("when it was asked for what it remembers"):
            return super().state()


#: The attribute of `_Watching`, as no class of a user's has it.
_BY = "_Watching__by"
