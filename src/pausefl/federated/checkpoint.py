"""The state of an unfinished job: saved from time to time, so that a killed job resumes.

The file is an optimisation. If it is missing or damaged, or cannot be written, the job runs from round 1 and
gives the same result. A state of other code, settings or data is never used.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pausefl.errors import ConfigError
from pausefl.federated.simulation import State
from pausefl.files import check_readable, replacing
from pausefl.provenance import peak_memory_bytes
from pausefl.settings.changes import flattened

#: Name of the file, beside the results.
STATE_FILE = "state.npz"
#: After a save of t seconds, the next one waits at least this many times t.
_REST = 30
#: Most differences from another job that a message lists.
_N_TOLD = 4
#: Parts of the identity that are hashes; messages leave out their values.
_HASHES = ("code", "data set", "partition")


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


@dataclass(frozen=True)
class Saving:
    """How the state of a job is saved, and what happens to an existing one.

    Attributes
    ----------
    interval
        Least seconds between two saves; 0 saves after every round.
    restart
        Whether to ignore an existing state and run from round 1.
    discard
        Whether to discard the state of another job; otherwise it is an error.
    note
        Called with messages for the user.
    """

    interval: float = 120.0
    restart: bool = False
    discard: bool = False
    note: Callable[[str], None] = _to_stderr


class Checkpoint:
    """The state file of one job, and what adds up when a job runs in several parts.

    Parameters
    ----------
    path
        The file (npz, no Python objects: the arrays of the state, and JSON under ``about``).
    identity
        Everything that the result depends on, as JSON can hold it; only a job with the same one may resume.
    saving
        When to save, and what to do with an existing state.

    Attributes
    ----------
    resumed_from
        Rounds after which the job resumed.
    saving_s
        Seconds spent saving.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], saving: Saving) -> None:
        self.path = path
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))
        self.saving = saving
        self.resumed_from: list[int] = []
        self.saving_s = 0.0
        self._earlier_s = 0.0
        self._earlier_peak = 0
        self._start = time.perf_counter()
        self._next = self._start + saving.interval
        self._failed = False

    @property
    def total_s(self) -> float:
        """Seconds that the job has run, without what was lost."""
        return self._earlier_s + time.perf_counter() - self._start

    @property
    def peak_memory_bytes(self) -> int:
        """Largest resident set of the job's processes so far."""
        return max(self._earlier_peak, peak_memory_bytes())

    @property
    def due(self) -> bool:
        """Whether it is time to save."""
        return time.perf_counter() >= self._next

    def load(self) -> State | None:
        """The state to resume from; None if there is no usable one.

        Raises
        ------
        ConfigError
            If it is the state of another job, unless such states are to be discarded.
        """
        if self.saving.restart:
            self.remove()
        note, path = self.saving.note, self.path
        if path.exists():
            check_readable(path, ConfigError)
        try:
            with np.load(path, allow_pickle=False) as archive:
                state = {name: archive[name] for name in archive.files}
            about = json.loads(state.pop("about").tobytes())
            identity, round_, resumed_from = about["identity"], about["round"], about["resumed_from"]
            saving_s, total_s, peak = about["saving_s"], about["total_s"], about["peak_memory_bytes"]
        except FileNotFoundError:
            return None
        # A damaged file makes numpy, zipfile and json fail in many ways; all mean the same.
        except Exception as error:
            note(f"{path} is truncated or corrupt ({error}) and is not used: starting from round 1")
            return None
        differences = _differences(identity, self.identity)
        if differences:
            problem = f"{path} is the state of another job: {_list(differences)}"
            if not self.saving.discard:
                raise ConfigError(f"{problem}. Use another folder, or start anew with --restart")
            note(f"{problem}. Discarded: starting from round 1")
            self.remove()
            return None
        note(f"resuming after round {round_}, from {path}")
        self.resumed_from = [*resumed_from, round_]
        self.saving_s, self._earlier_s, self._earlier_peak = saving_s, total_s, peak
        return state

    def save(self, round: int, state: Callable[[], State]) -> bool:
        """Save what ``state`` returns as the state after a round; False if that fails.

        A failed save leaves the old file as it is.
        """
        start = time.perf_counter()
        failure = None
        try:
            self._write(round, state())
        except (OSError, MemoryError) as error:
            failure = error
            if not self._failed:
                text = f"{type(error).__name__}: {error}".rstrip(": ")
                self.saving.note(f"cannot save the state after round {round} ({text}); the job continues")
        self._failed = failure is not None
        took = time.perf_counter() - start
        self.saving_s += took
        rest = max(self.saving.interval, _REST * took) if self.saving.interval > 0 else 0.0
        self._next = start + took + rest
        return failure is None

    def remove(self) -> None:
        """Remove the file if it exists."""
        self.path.unlink(missing_ok=True)

    def _write(self, round: int, state: State) -> None:
        about = {
            "identity": self.identity,
            "round": round,
            "resumed_from": self.resumed_from,
            "saving_s": self.saving_s,
            "total_s": self.total_s,
            "peak_memory_bytes": self.peak_memory_bytes,
        }
        text = np.frombuffer(json.dumps(about).encode(), np.uint8)
        with replacing(self.path) as (temporary,), temporary.open("wb") as file:
            np.savez(file, about=text, **state)  # type: ignore[arg-type]


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What differs between two jobs, each in a few words."""
    old, new = flattened(there), flattened(here)
    found = []
    for key in sorted({*old, *new}, key=lambda key: (key not in _HASHES, key)):
        if old.get(key) != new.get(key):
            values = "" if key in _HASHES else f" ({_say(old.get(key))} there, {_say(new.get(key))} here)"
            found.append(f"{key}{values}")
    return found


def _say(value: object) -> str:
    return "none" if value is None else str(value)


def _list(differences: list[str]) -> str:
    """``other code``, ``other seed (1 there, 0 here)``, and how many more there are."""
    told = [f"other {difference}" for difference in differences[:_N_TOLD]]
    more = len(differences) - len(told)
    return ", ".join([*told, f"and {more} more"] if more else told)


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Treat the first SIGTERM or SIGINT as a request to stop; yields a function that says whether it came.

    A second signal acts as it did before. Ignored signals stay ignored. Outside the main thread, which
    signals do not reach, nothing happens.
    """
    received: list[int] = []
    before: dict[signal.Signals, Any] = {}

    def put_back() -> None:
        while before:
            signal.signal(*before.popitem())

    def handle(number: int, frame: object) -> None:
        received.append(number)
        put_back()

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handle)
    try:
        yield lambda: bool(received)
    finally:
        put_back()
