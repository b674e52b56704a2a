"""One federated job from data to files: ``rounds.parquet``, ``ledger.parquet`` and ``summary.json``."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pausefl.availability import check_runnable
from pausefl.config import Scenario
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, DataError
from pausefl.files import check_writable
from pausefl.provenance import code_hash, hardware, peak_memory_bytes, versions
from pausefl.registry import SELECTORS
from pausefl.simulation import Result, Simulation
from pausefl.streams import Streams
from pausefl.training import Trainer, choose_device, model_layout


@dataclass(frozen=True)
class Job:
    """What to run, apart from the data.

    Attributes
    ----------
    scenario, selector, seed
        A row of the experiment table.
    n_rounds
        Number of rounds; a prefix of a longer run gives the same rounds.
    train
        False runs the selection alone.
    genie
        Whether to compute the pseudo-regret.
    device
        ``auto``, ``cpu`` or ``cuda``.
    n_threads
        Threads of the arithmetic; results depend on it through the order of summation.
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
    job: Job, dataset: Dataset, partition: Partition, out: Path, on_round: Callable[[], None] = lambda: None
) -> None:
    """Run one job and write its three files to ``out``; nothing half-written is ever left there.

    Raises
    ------
    ConfigError
        If the scenario cannot run with the selector, the selector cannot run without training, or the device
        is not there.
    DataError
        If data or partition are not of the kind that the scenario asks for.
    PauseflError
        If ``out`` cannot be written to. Found before anything runs.
    """
    import torch

    check_runnable(job.scenario, [job.selector])
    if SELECTORS[job.selector].needs_updates and not job.train:
        raise ConfigError(
            f"selector '{job.selector}' looks at the users' updates, so it cannot run without"
            " training (--no-train)"
        )
    _check_data(job.scenario, dataset, partition)
    check_writable(out)
    torch.set_num_threads(job.n_threads)
    start = time.perf_counter()
    streams, scenario = Streams(job.seed), job.scenario
    trainer = None
    if job.train:
        device = choose_device(job.device)
        trainer = Trainer(scenario.model, scenario.training, dataset, partition, streams, device)
    layout = trainer.layout if trainer is not None else model_layout(scenario.model, dataset)
    simulation = Simulation(scenario, job.selector, streams, partition, layout, trainer, job.genie)
    result = simulation.run(job.n_rounds, on_round)
    summary = {
        "scenario": scenario.job_settings(),
        "selector": job.selector,
        "seed": job.seed,
        "n_rounds": job.n_rounds,
        "trained": job.train,
        "device": str(trainer.device) if trainer is not None else None,
        "n_threads": job.n_threads,
        "dataset_origin": dataset.origin,
        "diverged_round": result.diverged_round,
        "code_hash": code_hash("pausefl.job", selectors=[job.selector, *(["genie"] if job.genie else [])]),
        "versions": versions(),
        "hardware": hardware(),
        "timings_s": {**result.seconds, "total": time.perf_counter() - start},
        "peak_memory_bytes": peak_memory_bytes(),
    }
    _write(result, summary, out)


def _check_data(scenario: Scenario, dataset: Dataset, partition: Partition) -> None:
    """Raise `DataError` unless data and partition are of the kind that the scenario asks for."""
    needed = (scenario.data.source, scenario.network.n_users)
    given = (dataset.name, len(partition.users))
    if given != needed:
        raise DataError(
            f"scenario '{scenario.name}' needs data set '{needed[0]}' shared by {needed[1]} users, but was"
            f" given '{given[0]}' shared by {given[1]}"
        )


def _write(result: Result, summary: dict[str, Any], out: Path) -> None:
    """Write all files beside their final names, then move them there."""
    tables = {"rounds.parquet": result.rounds, "ledger.parquet": result.ledger}
    with tempfile.TemporaryDirectory(dir=out) as temporary:
        staged = Path(temporary)
        for name, table in tables.items():
            pq.write_table(pa.Table.from_pandas(table, preserve_index=False), staged / name)
        text = json.dumps(summary, indent=2) + "\n"
        (staged / "summary.json").write_text(text, encoding="utf-8")
        for name in (*tables, "summary.json"):
            os.replace(staged / name, out / name)
