"""Run one federated job, from data to files."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pausefl.data.dataset import Dataset, load_dataset
from pausefl.data.partition import Partition, make_partition
from pausefl.data.raw_data import fetch, prepare
from pausefl.data.settings import RawData
from pausefl.errors import ConfigError, PauseflError, StoppedError
from pausefl.federated.checkpoint import STATE_FILE, Checkpoint, Saving
from pausefl.federated.job import Job, check_data, identity_of, summary_of
from pausefl.federated.runnable import check_runnable
from pausefl.federated.simulation import Result, Simulation
from pausefl.files import check_writable, locked
from pausefl.runs.run import check_free, write_files
from pausefl.selectors import SELECTORS
from pausefl.streams import Streams
from pausefl.training.sizes import model_layout
from pausefl.training.surroundings import usual_settings


def run_job(
    job: Job,
    dataset: Dataset,
    partition: Partition,
    out: Path,
    on_round: Callable[[int], None] = lambda t: None,
    saving: Saving = Saving(),  # noqa: B008 (cannot be changed)
    on_start: Callable[[list[dict[str, object]]], None] = lambda rows: None,
) -> None:
    """Run one job and write its three files to ``out``, all or none.

    A killed job resumes from the last state that it saved in ``out``, and gives the same result, whatever
    PyTorch and NumPy are set to in this process (`pausefl.training.surroundings`).

    Parameters
    ----------
    job, dataset, partition
        What to run, on which data.
    out
        Folder of the results and, until the job ends, of its state.
    on_round
        Called with t after each round.
    saving
        How the state is saved, and what happens to an existing one.
    on_start
        Called before the first round of this process with the list that has, and gets, a row for each round.

    Raises
    ------
    ConfigError
        If the scenario cannot run with the selector, or there is no such device.
    DataError
        If data or partition do not fit the scenario.
    PauseflError
        If ``out`` cannot be written to, or another job is writing to it. This and all of the above are found
        before anything runs.
    StoppedError
        After SIGTERM or SIGINT: the round in progress is finished and the state saved.
    """
    check_runnable(job.scenario, [job.selector])
    if (seen := SELECTORS[job.selector].looks_at()) and not job.train:
        raise ConfigError(
            f"selector '{job.selector}' looks at the users' {seen}, so it cannot run without training"
            " (--no-train)"
        )
    check_data(job.scenario, dataset, partition)
    check_writable(out)
    check_free(out)
    device = None
    if job.train:
        from pausefl.training.engine import Trainer, choose_device

        device = choose_device(job.device)
    with locked(out, saving.note), stop_requests() as asked, usual_settings(job.n_threads):
        identity = identity_of(job, dataset, partition, None if device is None else str(device))
        checkpoint = Checkpoint(out / STATE_FILE, identity, saving)
        state = checkpoint.load()
        streams, scenario = Streams(job.seed), job.scenario
        trainer = None
        if device is not None:
            trainer = Trainer(scenario.model, scenario.training, dataset, partition, streams, device)
        layout = trainer.layout if trainer is not None else model_layout(scenario.model, dataset)
        simulation = Simulation(scenario, job.selector, streams, partition, layout, trainer, job.genie)
        if state is not None:
            try:
                simulation.restore(state)
            except (PauseflError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
                raise ConfigError(
                    f"{checkpoint.path} is damaged ({error}). Use another folder, or --restart"
                ) from None
        on_start(simulation.rows)
        result = _run(simulation, job, on_round, checkpoint, asked)
        course = checkpoint.course(result.seconds)
        summary = summary_of(job, dataset, partition, identity, result, course)
        try:
            write_files(result.rounds, result.ledger, summary, out)
        except OSError as error:
            resumes = ": it resumes from the saved state" if checkpoint.path.is_file() else ""
            raise PauseflError(
                f"cannot write the results to {out}: {error.strerror or error}. Make room, then run the same"
                f" command again{resumes}"
            ) from None
        checkpoint.remove()


def _run(
    simulation: Simulation,
    job: Job,
    on_round: Callable[[int], None],
    checkpoint: Checkpoint,
    asked_to_stop: Callable[[], bool],
) -> Result:
    """Run the rounds that are left; save the state from time to time, and when the job is asked to stop."""

    def after(t: int) -> None:
        on_round(t)
        stop = asked_to_stop()
        if simulation.ended(job.n_rounds) or not (stop or checkpoint.due):
            return
        saved = checkpoint.save(t, simulation.state)
        if stop:
            how = "to resume" if saved else "to resume from the state saved before, if there is one"
            of = f" of {job.n_rounds}" if simulation.horizon == math.inf else ""
            raise StoppedError(f"stopped after round {t}{of}; run the same command again {how}")

    return simulation.run(job.n_rounds, after)


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


def data_of_job(job: Job, raw: RawData, file: Path | None = None) -> tuple[Dataset, Partition]:
    """Data set and partition of a job: from raw data, or from a prepared file (npz)."""
    scenario = job.scenario
    if file is None:
        fetch(scenario.data, raw)
    with usual_settings(job.n_threads):
        dataset = prepare(scenario.data, raw) if file is None else load_dataset(file)
        shared = scenario.data, scenario.partition, scenario.network.n_users, Streams(job.seed)
        return dataset, make_partition(dataset.train_y, *shared, dataset.train_users)
