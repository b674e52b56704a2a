"""Jobs that are killed, each a process of its own, and run again until they are done."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bad_files import FILES, run, store

#: Rounds of a job, which saves its state after each.
_ROUNDS = 40
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Kill:
    """A job that is killed, and what is to be seen.

    Attributes
    ----------
    signals
        What is sent to each of its processes in turn; the last process is left alone.
    when
        When: shares of the time that a job takes from its first saved state to its end.
    selector
        What selects in the job.
    """

    signals: tuple[signal.Signals, ...]
    when: tuple[float, ...]
    selector: str = "pause"

    @property
    def kind(self) -> str:
        """Row of the table."""
        if len(self.signals) > 1:
            return "several signals, one after the other"
        return f"{self.signals[0].name}"


def kills() -> Iterator[Kill]:
    """All kills: each signal at 15 moments from before the first save to after the end, and 6 in a row."""
    for number in _SIGNALS:
        for i in range(15):
            yield Kill((number,), (-0.1 + 1.15 * i / 14,), ("pause", "random", "clustered_similarity")[i % 3])
    for i in range(6):
        yield Kill(_SIGNALS * 2, tuple(0.05 * (j + i) for j in range(6)))


class Trial:
    """Runs jobs in processes, and compares what killed ones wrote with what one that was left alone wrote."""

    def __init__(self) -> None:
        self.whole: dict[str, dict[str, bytes]] = {}
        self.took: dict[str, float] = {}

    def seen(self, kill: Kill) -> str:
        """`equal, byte for byte`, or a sentence on what is wrong."""
        if kill.selector not in self.whole:
            self._reference(kill.selector)
        with tempfile.TemporaryDirectory(prefix="trial-") as name:
            out = Path(name) / "out"
            for number, share in zip(kill.signals, kill.when, strict=True):
                code = self._killed(out, kill.selector, number, share)
                if code not in (0, -number, os.EX_TEMPFAIL):
                    return f"exit code {code} after {number.name}"
            if code := _wait(_start(out, kill.selector)):
                return f"exit code {code} of the run after"
            left = {path.name for path in out.iterdir()} - set(FILES)
            if left:
                return f"leaves {', '.join(sorted(left))}"
            return "equal, byte for byte" if _tables(out) == self.whole[kill.selector] else "other results"

    def _reference(self, selector: str) -> None:
        out = store() / "whole" / selector
        for _ in range(2):  # the first one compiles
            with contextlib.suppress(FileNotFoundError):
                for path in out.iterdir():
                    path.unlink()
            pid, start = _start(out, selector), 0.0
            while not (out / "state.npz").exists():
                time.sleep(0.002)
            start = time.perf_counter()
            assert _wait(pid) == 0
            self.took[selector] = time.perf_counter() - start
        self.whole[selector] = _tables(out)

    def _killed(self, out: Path, selector: str, number: signal.Signals, share: float) -> int:
        """Start a job and send a signal; its exit code."""
        pid = _start(out, selector)
        if share >= 0:
            while not (out / "state.npz").exists() and not (out / "summary.json").exists():
                time.sleep(0.002)
        time.sleep(max(share, 0.0) * self.took[selector] + (0.1 + share if share < 0 else 0))
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        return _wait(pid)


def _tables(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in FILES[:2]}


def _start(out: Path, selector: str) -> int:
    """A process of its own that runs a job; its id."""
    caught = _SIGNALS[1:]
    signal.pthread_sigmask(signal.SIG_BLOCK, caught)  # held back until the process has its handlers
    pid = os.fork()
    if pid:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, caught)
        return pid
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, caught)
        run(out, "--rounds", _ROUNDS, "--save-every", 0, selector=selector)
        code = 0
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing is raised from here on
    except AssertionError as stopped:  # any exit code but 0 and 2
        before_it_started = "Aborted" in str(stopped) or "exit code 130" in str(stopped)
        code = os.EX_TEMPFAIL if before_it_started or f"exit code {os.EX_TEMPFAIL}" in str(stopped) else 1
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        os._exit(code)


def _wait(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
