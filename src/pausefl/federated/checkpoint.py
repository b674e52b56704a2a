"""What earlier processes left of a job: the state of an unfinished one, or its finished run.

A job is the same as an earlier one if all that its result depends on is the same (`identity_of`). Then it
resumes from the state, and it is not run again if it is finished.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, PauseflError
from pausefl.federated.job import Job, identity_of
from pausefl.federated.simulation import State
from pausefl.files import check_readable, replacing
from pausefl.provenance import peak_memory_bytes
from pausefl.runs.run import Run, check_free, read_folder
from pausefl.settings.dotted_keys import flattened
from pausefl.settings.scenario import as_of_today

#: Name of the state of an unfinished job, beside the results.
STATE_FILE = "state.npz"
#: After a save of t seconds, the next one waits at least this many times t.
_REST = 30
#: Most differences between two jobs that a message lists.
_N_LISTED = 4
#: Parts of an identity that are hashes; messages leave out their values.
_HASHES = ("code", "data set", "partition")
#: Parts of an identity that say how a job is run, not what it is.
_HOW = ("code", "device", "n_threads", "versions")


def _to_stderr(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody listens: the job goes on
        print(text, file=sys.stderr)


@dataclass(frozen=True)
class Saving:
    """Rules for saving the state of a job, and for one that exists.

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

    The file is an optimisation. If it is missing or damaged, or cannot be written, the job runs from round 1
    and gives the same result. A state of other code, settings or data is never used.

    Parameters
    ----------
    path
        The file (npz, no Python objects: the arrays of the state, and JSON under ``about``).
    identity
        Everything that the result depends on, as JSON can hold it; only a job with the same one may resume.
    saving
        When to save, and what to do with an existing state.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], saving: Saving) -> None:
        self.path = path
        self.identity: dict[str, Any] = json.loads(json.dumps(identity))
        self.saving = saving
        self._resumed_from: list[int] = []
        self._saving_s = 0.0
        self._earlier_s = 0.0
        self._earlier_peak = 0
        self._start = time.perf_counter()
        self._next = self._start + saving.interval
        self._failed = False

    def course(self, seconds: Mapping[str, float]) -> dict[str, Any]:
        """Course of the job so far, in all its parts, as ``summary.json`` has it.

        Parameters
        ----------
        seconds
            Wall-clock time by stage, in all parts.
        """
        return {
            "resumed_from_rounds": self._resumed_from,
            "timings_s": {**seconds, "saving": self._saving_s, "total": self._total_s()},
            "peak_memory_bytes": self._peak(),
        }

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
        if differing := differences(identity, self.identity):
            problem = f"{path} is the state of another job: {listed(differing)}"
            if not self.saving.discard:
                raise ConfigError(f"{problem}. Use another folder, or start anew with --restart")
            note(f"{problem}. Discarded: starting from round 1")
            self.remove()
            return None
        note(f"resuming after round {round_}, from {path}")
        self._resumed_from = [*resumed_from, round_]
        self._saving_s, self._earlier_s, self._earlier_peak = saving_s, total_s, peak
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
        self._saving_s += took
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
            "resumed_from": self._resumed_from,
            "saving_s": self._saving_s,
            "total_s": self._total_s(),
            "peak_memory_bytes": self._peak(),
        }
        text = np.frombuffer(json.dumps(about).encode(), np.uint8)
        with replacing(self.path) as (temporary,), temporary.open("wb") as file:
            np.savez(file, about=text, **state)  # type: ignore[arg-type]

    def _total_s(self) -> float:
        """Seconds that the job has run, without what was lost."""
        return self._earlier_s + time.perf_counter() - self._start

    def _peak(self) -> int:
        """Largest resident set of the job's processes so far, in bytes."""
        return max(self._earlier_peak, peak_memory_bytes())


def is_finished(job: Job, dataset: Dataset, partition: Partition, out: Path, repeat: bool = False) -> bool:
    """Whether ``out`` holds the finished run of a job, so that nothing is left to run.

    With ``repeat`` a job is run again although it is finished; never in place of another.

    Raises
    ------
    PauseflError
        If there is a run that cannot be read, unless ``repeat``.
    ConfigError
        If ``out`` holds the run of another job, or of the same with other code, versions or machine settings
        that is not to be repeated. The message lists what differs.
    """
    if not (out / "summary.json").exists():
        return False
    check_free(out)
    try:
        run = read_folder(out)
        there, summary = identity_of_run(run), run.summary
    except PauseflError as error:
        if repeat:
            return False
        raise PauseflError(f"{error}. To run this job in its place: --force") from None
    device = None
    if job.train:
        from pausefl.training.engine import choose_device

        device = str(choose_device(job.device))
    differing = differences(there, identity_of(job, dataset, partition, device))
    if "data set" in differing:
        differing["data set"] = (
            f"other data set (from {summary['dataset_origin']}; asked for: {dataset.origin})"
        )
    how = {key: words for key, words in differing.items() if key.partition(".")[0] in _HOW}
    if another := {key: words for key, words in differing.items() if key not in how}:
        raise ConfigError(
            f"{out} holds the finished run of another job: {listed(another)}. It is not overwritten: use"
            " another folder"
        )
    if how and not repeat:
        raise ConfigError(
            f"{out} holds this job, finished otherwise: {listed(how)}. To run it again: --force"
        )
    return not repeat


def identity_of_run(run: Run) -> dict[str, Any]:
    """What the result of a finished run depends on, as `identity_of` has it of a job.

    `PauseflError` if its summary does not say.
    """
    summary = run.summary
    try:
        return {
            **{key: summary[key] for key in ("selector", "seed", "n_rounds", "trained", "device")},
            **{key: summary[key] for key in ("n_threads", "versions")},
            **{key: summary["digests"][key] for key in ("data set", "partition")},
            "scenario": json.loads(json.dumps(as_of_today(summary))),
            # Older summaries do not say.
            "genie": summary.get("genie", bool(run.rounds["pseudo_regret"].notna().any())),
            "code": summary["code_hash"],
        }
    except (KeyError, TypeError) as error:
        raise PauseflError(f"{run.name}: summary.json lacks {error}") from None


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, str]:
    """Differences between the identities of two jobs: by dotted key in a few words, hashes last."""
    old, new = flattened(there), flattened(here)
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    keys.sort(key=_HASHES.__contains__)
    return {
        key: f"other {key}" if key in _HASHES else f"{key} = {_text(old, key)} (asked for: {_text(new, key)})"
        for key in keys
    }


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return "none" if value is None else str(value)


def listed(differing: Mapping[str, str]) -> str:
    """Differences in one line: the first few, and how many more there are."""
    words, more = list(differing.values())[:_N_LISTED], len(differing) - _N_LISTED
    return ", ".join([*words, *([f"and {more} more"] if more > 0 else [])])
