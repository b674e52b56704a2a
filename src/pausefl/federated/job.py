"""One federated job from data to files: ``rounds.parquet``, ``ledger.parquet`` and ``summary.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pausefl import digests
from pausefl.data.dataset import Dataset, check_examples
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, DataError, PauseflError, StoppedError
from pausefl.federated.checkpoint import STATE_FILE, Checkpoint, Saving, stop_requests
from pausefl.federated.runnable import check_runnable
from pausefl.federated.simulation import Result, Simulation
from pausefl.federated.watcher import Watcher
from pausefl.files import check_readable, check_writable, locked, replacing
from pausefl.privacy import losses_reported
from pausefl.provenance import hardware, job_code, versions
from pausefl.registry import SELECTORS, SOURCES
from pausefl.settings import Scenario
from pausefl.streams import Streams
from pausefl.training.layout import model_layout


@dataclass(frozen=True)
class Job:
    """What to run, besides the data.

    Attributes
    ----------
    scenario, selector, seed
        A row of the experiment table.
    n_rounds
        Most rounds; a longer run begins with the same rounds. The scenario's time horizon may end it earlier.
    train
        Whether to train; otherwise the selection runs alone.
    genie
        Whether to compute the pseudo-regret.
    device
        ``auto``, ``cpu`` or ``cuda``.
    n_threads
        Threads of the arithmetic; results depend on them through the order of summation.
    """

    scenario: Scenario
    selector: str
    seed: int
    n_rounds: int
    train: bool = True
    genie: bool = False
    device: str = "auto"
    n_threads: int = 1


def run_job(
    job: Job,
    dataset: Dataset,
    partition: Partition,
    out: Path,
    on_round: Callable[[int], None] = lambda t: None,
    saving: Saving = Saving(),  # noqa: B008 (cannot be changed)
) -> None:
    """Run one job and write its three files to ``out``, all or none.

    A killed job resumes from the last state that it saved in ``out``, and gives the same result.

    Parameters
    ----------
    job, dataset, partition
        What to run, on which data.
    out
        Folder of the results and, until the job ends, of its state.
    on_round
        Called with t after each round. A `Watcher` is given the rows too.
    saving
        How the state is saved, and what happens to an existing one.

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
    record = SELECTORS[job.selector]
    if (record.needs_updates or record.needs_losses) and not job.train:
        seen = "updates" if record.needs_updates else "training losses"
        raise ConfigError(
            f"selector '{job.selector}' looks at the users' {seen}, so it cannot run without training"
            " (--no-train)"
        )
    check_data(job.scenario, dataset, partition)
    check_writable(out)
    check_free(out)
    device = None
    if job.train:
        import torch

        from pausefl.training.engine import Trainer, choose_device

        torch.set_num_threads(job.n_threads)
        device = choose_device(job.device)
    with locked(out, saving.note), stop_requests() as asked:
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
            except (IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
                raise ConfigError(
                    f"{checkpoint.path} is damaged ({error}). Use another folder, or --restart"
                ) from None
        if isinstance(on_round, Watcher):
            on_round.note(simulation.rows)
        result = _run(simulation, job, on_round, checkpoint, asked)
        try:
            write_files(result, summary_of(job, dataset, identity, result, checkpoint), out)
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
    horizon = job.scenario.training.horizon

    def after(t: int) -> None:
        on_round(t)
        stop = asked_to_stop()
        if t == job.n_rounds or simulation.elapsed >= horizon or not (stop or checkpoint.due):
            return
        saved = checkpoint.save(t, simulation.state)
        if stop:
            how = "to resume" if saved else "to resume from the state saved before, if there is one"
            of = f" of {job.n_rounds}" if horizon == math.inf else ""
            raise StoppedError(f"stopped after round {t}{of}; run the same command again {how}")

    return simulation.run(job.n_rounds, after, horizon)


def identity_of(job: Job, dataset: Dataset, partition: Partition, device: str | None) -> dict[str, Any]:
    """Everything that a result depends on; only a job with the same identity may resume."""
    folder = SOURCES.find(job.scenario.data.source).in_folder
    in_folder = folder is not None and dataset.origin.startswith(folder.origin.partition("{")[0])
    return {
        "scenario": job.scenario.job_settings(),
        "selector": job.selector,
        "seed": job.seed,
        "n_rounds": job.n_rounds,
        "train": job.train,
        "genie": job.genie,
        "device": device,
        "n_threads": job.n_threads,
        "code": job_code(job.scenario, job.selector, device or "cpu", genie=job.genie, in_folder=in_folder),
        "versions": versions(),
        **data_digests(dataset, partition),
    }


def data_digests(dataset: Dataset, partition: Partition) -> dict[str, str]:
    """Hashes of the examples, and of who holds which of them."""
    examples = (dataset.train_x, dataset.train_y, dataset.test_x, dataset.test_y)
    shares = (*partition.users, partition.quality, partition.validation)
    return {"data set": digests.of_arrays(examples), "partition": digests.of_arrays(shares)}


def summary_of(
    job: Job, dataset: Dataset, identity: dict[str, Any], result: Result, checkpoint: Checkpoint
) -> dict[str, Any]:
    """The content of ``summary.json``."""
    in_time = result.rounds["elapsed_s"].iloc[-1] >= job.scenario.training.horizon
    return {
        "scenario": identity["scenario"],
        "selector": job.selector,
        "seed": job.seed,
        "n_rounds": job.n_rounds,
        "rounds_made": len(result.rounds),
        "ended_by": "time_horizon_s" if in_time else "n_rounds",
        "trained": job.train,
        "device": identity["device"],
        "n_threads": job.n_threads,
        "dataset_origin": dataset.origin,
        "digests": {
            "data set": identity["data set"],
            "partition": identity["partition"],
            "rounds.parquet": digests.of_table(result.rounds),
            "ledger.parquet": digests.of_table(result.ledger),
        },
        "class_accuracy": result.class_accuracy,
        "losses": losses_reported(job.scenario.privacy, job.selector),
        "diverged_round": result.diverged_round,
        "refused_updates": {
            "n": len(result.refused),
            "first": [{"round": t, "user": user} for t, user in result.refused[:10]],
        },
        "resumed_from_rounds": checkpoint.resumed_from,
        "code_hash": identity["code"],
        "code": identity["code"].parts,
        "versions": identity["versions"],
        "hardware": hardware(),
        "timings_s": {**result.seconds, "saving": checkpoint.saving_s, "total": checkpoint.total_s},
        "peak_memory_bytes": checkpoint.peak_memory_bytes,
    }


def check_data(scenario: Scenario, dataset: Dataset, partition: Partition) -> None:
    """Raise `DataError` unless data and partition fit the scenario."""
    needed = (scenario.data.source, scenario.network.n_users)
    given = (dataset.name, len(partition.users))
    if given != needed:
        raise DataError(
            f"scenario '{scenario.name}' needs data set '{needed[0]}' shared by {needed[1]} users, but was"
            f" given '{given[0]}' shared by {given[1]}"
        )
    check_examples(f"data set '{dataset.name}'", vars(dataset))
    n_needed = 1 + int(max(indices.max(initial=-1) for indices in (*partition.users, partition.validation)))
    if n_needed > len(dataset.train_y):
        raise DataError(
            f"the partition shares out {n_needed} training examples, but data set '{dataset.name}' has"
            f" {len(dataset.train_y)}"
        )


def check_free(out: Path) -> None:
    """Raise `PauseflError` if something that is no file stands where a result is to be written."""
    for path in (out / "rounds.parquet", out / "ledger.parquet", out / "summary.json"):
        if path.exists():
            check_readable(path)


def write_files(result: Result, summary: dict[str, Any], out: Path) -> None:
    """Write all files under temporary names, then rename them, the summary last."""
    tables = {"rounds.parquet": result.rounds, "ledger.parquet": result.ledger}
    with replacing(*(out / name for name in (*tables, "summary.json"))) as staged:
        for path, table in zip(staged, tables.values(), strict=False):
            pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
        staged[-1].write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
