"""Progress of a job in words. No result depends on it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pausefl.progress import about


class Watcher:
    """Follows a job: `note` is its ``on_start`` and the watcher itself its ``on_round`` (`run_job`).

    Parameters
    ----------
    n_rounds
        Most rounds of the job.
    clock
        Seconds since some moment.
    horizon
        Simulated seconds that end it, too.
    """

    def __init__(
        self, n_rounds: int, clock: Callable[[], float] = time.monotonic, horizon: float = math.inf
    ) -> None:
        self.n_rounds = n_rounds
        self.horizon = horizon
        self.round = 0
        self._clock = clock
        self._rows: Sequence[Mapping[str, Any]] = ()
        self._first: tuple[int, float] | None = None
        self._last = (0, clock())

    def note(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Take note of the list to which the job will add a row a round."""
        self._rows = rows
        self.round = len(rows)

    def __call__(self, t: int) -> None:
        """Take note that round t is done."""
        self.round = t
        self._last = (t, self._clock())
        self._first = self._first or self._last

    @property
    def share(self) -> float:
        """Share of the rounds, or of the simulated time if that ends the job, that is done."""
        simulated = float(self._rows[-1]["elapsed_s"]) if self._rows else 0.0
        return min(max(self.round / self.n_rounds, simulated / self.horizon), 1.0)

    @property
    def seconds_left(self) -> float | None:
        """Estimate of the time to the end, at the pace of this process after its first round.

        None before its second round is done. The first does not count: it compiles kernels.
        """
        (t, then), now = self._last, self._clock()
        if self._first is None or t == self._first[0]:
            return None
        pace = (then - self._first[1]) / (t - self._first[0])
        rounds_left = t / self.share - t
        # A round that takes longer than usual adds nothing until it is done.
        return pace * rounds_left - min(now - then, pace * min(rounds_left, 1.0))

    def line(self) -> str:
        """Round, simulated time, accuracy, largest leakage and the time left."""
        if not self._rows:
            return self.brief()
        leakage = float(self._rows[-1]["leakage_max"])
        privacy = "no privacy" if math.isinf(leakage) else f"largest budget spent {leakage:.3g}"
        of = "" if math.isinf(self.horizon) else f" of {self.horizon:g}"
        elapsed = f"{self._rows[-1]['elapsed_s']:.4g}{of} simulated s"
        return ", ".join([self._where(), elapsed, *self._scores(), privacy, *self._left()])

    def brief(self) -> str:
        """Round, accuracy and the time left."""
        if not self._rows:
            return f"round 1{self._of()} runs; it may compile kernels"
        return ", ".join([self._where(), *self._scores(), *self._left()])

    def _where(self) -> str:
        return f"round {len(self._rows)}{self._of()}"

    def _of(self) -> str:
        """Number of rounds there will be, if that is known."""
        return f" of {self.n_rounds}" if math.isinf(self.horizon) else ""

    def _left(self) -> list[str]:
        """The time left; nothing at the end."""
        left = self.seconds_left
        if self.share >= 1:
            return []
        return ["no estimate yet" if left is None else f"{about(left)} left"]

    def _scores(self) -> list[str]:
        """The last accuracy, or for a regression the last loss; nothing if there is none."""
        for row in reversed(self._rows):
            if not math.isnan(accuracy := row.get("accuracy", math.nan)):
                return [f"accuracy {accuracy:.1%}"]
            if not math.isnan(loss := row.get("loss", math.nan)):
                return [f"loss {loss:.4g}"]
            if "loss" not in row:
                break
        return []


@contextmanager
def told(watcher: Watcher, tell: Callable[[str], None], interval: float = 30.0) -> Iterator[Watcher]:
    """Tell a watcher's line every ``interval`` seconds, however long a round takes, and at the end."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(interval):
            tell(watcher.line())

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield watcher
    finally:
        ended.set()
        thread.join()
    tell(watcher.line())
