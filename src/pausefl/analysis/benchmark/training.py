"""Jobs of a benchmark, several at a time: what is finished stays, and what fails does not stop the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import PauseflError, StoppedError
from pausefl.federated.checkpoint import Saving, is_finished
from pausefl.federated.job import Job
from pausefl.federated.run_job import data_of_job, run_job, stop_requests
from pausefl.progress import about
from pausefl.runs.collected import run_folder
from pausefl.runs.run_id import RunId
from pausefl.settings import RawData, Scenario

#: Seconds between two looks at whether somebody asks to stop.
_LOOK = 0.5


class Failed(NamedTuple):
    """A job that failed, and why."""

    run: RunId
    why: str


class _Outcome(NamedTuple):
    """What became of a job."""

    #: Why it failed, in a line, or nothing.
    why: str
    #: Whether it was run, not found finished.
    was_run: bool


def train(
    jobs: Mapping[RunId, Scenario],
    folder: Path,
    raw: RawData,
    n_workers: int,
    device: str = "cpu",
    note: Callable[[str], None] = lambda line: None,
) -> list[Failed]:
    """Run jobs that are not finished, each into its folder below ``folder``; those that fail.

    Parameters
    ----------
    jobs
        The scenario of each.
    folder
        Where each has a folder, as in ``results/runs`` of the workflow.
    raw
        Where data are.
    n_workers
        Processes at a time, with one thread each.
    device
        ``auto``, ``cpu`` or ``cuda``.
    note
        Called with a line after each job: how many are done, and how long the others take.

    Raises
    ------
    StoppedError
        After SIGTERM or SIGINT, when the jobs that are under way are finished. The same call goes on.
    PauseflError
        If the processes of the jobs die, as for lack of memory.
    """
    failed, start, n_done, n_run = list[Failed](), time.monotonic(), 0, 0
    left = list(jobs.items())[::-1]
    with stop_requests() as asked, _processes(min(n_workers, len(jobs) or 1)) as pool:
        pending = dict[Future[_Outcome], RunId]()
        while pending or left:
            if asked() and not pending:
                raise StoppedError(
                    f"stopped after {n_done} of {len(jobs)} jobs; run the same command again to go on"
                )
            while left and len(pending) < n_workers and not asked():
                run, scenario = left.pop()
                job = pool.submit(_run, scenario, run, run_folder(folder, run), raw, device)
                pending[job] = run
            done, _ = wait(pending, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                run, n_done = pending.pop(future), n_done + 1
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    raise PauseflError(
                        f"a process died that ran one of {len(jobs)} jobs, maybe for lack of memory: with"
                        " fewer at a time (--cores) each has more. The same command goes on"
                    ) from None
                failed += [Failed(run, outcome.why)] if outcome.why else []
                n_run += outcome.was_run
                seconds = (time.monotonic() - start) / max(n_run, 1) * (len(jobs) - n_done)
                why = outcome.why.partition("\n")[0]
                words = f"failed: {why}" if why else "done" if outcome.was_run else "was done"
                time_left = f", {about(seconds)} left" if n_done < len(jobs) and n_run else ""
                note(f"{n_done} of {len(jobs)}  {_words(run)} {words}{time_left}")
    return failed


@contextmanager
def _processes(n_workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that start afresh with one thread each, and leave the terminal's Ctrl-C to this one."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(n_workers, context, _start, (sys.path[:],)) as pool:
            yield pool
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _start(path: Iterable[str]) -> None:
    """Prepare a process: where it finds a selector of one's own, and that it ends its jobs."""
    sys.path[:] = path
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _run(scenario: Scenario, run: RunId, out: Path, raw: RawData, device: str) -> _Outcome:
    """Run a job unless it is finished."""
    job = Job(scenario, run.selector, run.seed, scenario.training.n_rounds, True, False, device, 1)
    try:
        dataset, partition = data_of_job(job, raw)
        if _is_current(job, dataset, partition, out):
            return _Outcome("", False)
        run_job(job, dataset, partition, out, saving=Saving(discard=True, note=lambda line: None))
    except PauseflError as error:
        return _Outcome(str(error), True)
    except Exception as error:  # whatever it is, the other jobs go on
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return _Outcome(f"{where}: {type(error).__name__}: {error}", True)
    return _Outcome("", True)


def _is_current(job: Job, dataset: Dataset, partition: Partition, out: Path) -> bool:
    """Whether a job is finished, by this code; `PauseflError` if ``out`` has another job's run."""
    try:
        return is_finished(job, dataset, partition, out)
    except PauseflError:  # of another job; or by other code, or damaged, in which case it is run again
        return is_finished(job, dataset, partition, out, repeat=True)


def _words(run: RunId) -> str:
    return f"{run.scenario}, {run.selector}, seed {run.seed}"
