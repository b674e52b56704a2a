"""A job, what its result depends on, and the files of a result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pausefl import hashing
from pausefl.data.dataset import Dataset, check_examples
from pausefl.data.partition import Partition, largest_shares
from pausefl.errors import DataError
from pausefl.federated.simulation import Result
from pausefl.plugins import from_folder
from pausefl.provenance import hardware, job_code, versions
from pausefl.settings import Scenario
from pausefl.training.settings import check_device


@dataclass(frozen=True)
class Job:
    """A run to be made, besides the data.

    Attributes
    ----------
    scenario, selector, seed
        A row of the experiment table. A user's own selector may be named as its folder is.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "selector", from_folder(self.selector))
        check_device(self.device)


def identity_of(job: Job, dataset: Dataset, partition: Partition, device: str | None) -> dict[str, Any]:
    """Everything that a result depends on, as JSON has it; equal identities give equal results.

    Parameters
    ----------
    job, dataset, partition
        What to run, on which data.
    device
        Where it trains, as PyTorch names it; None without training.
    """
    return {
        "scenario": json.loads(json.dumps(job.scenario.job_settings(job.selector))),
        "selector": job.selector,
        "seed": job.seed,
        "n_rounds": job.n_rounds,
        "trained": job.train,
        "genie": job.genie,
        "device": device,
        "n_threads": job.n_threads,
        "code": job_code(job.scenario, job.selector, genie=job.genie),
        "versions": versions(),
        **data_digests(dataset, partition),
    }


def data_digests(dataset: Dataset, partition: Partition) -> dict[str, str]:
    """Hashes of the examples, and of who holds which of them."""
    examples = (dataset.train_x, dataset.train_y, dataset.test_x, dataset.test_y)
    shares = (*partition.users, partition.quality, partition.validation)
    return {"data set": hashing.of_arrays(examples), "partition": hashing.of_arrays(shares)}


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


def summary_of(
    job: Job,
    dataset: Dataset,
    partition: Partition,
    identity: dict[str, Any],
    result: Result,
    course: dict[str, Any],
) -> dict[str, Any]:
    """The content of ``summary.json``.

    Parameters
    ----------
    job, dataset, partition
        What was run, on which data.
    identity
        From `identity_of`.
    result
        What came of it.
    course
        How the run went, on which no number depends: resumptions, times and memory.
    """
    in_time = result.rounds["elapsed_s"].iloc[-1] >= job.scenario.training.horizon
    return {
        **{key: identity[key] for key in ("scenario", "selector", "seed", "n_rounds")},
        "rounds_made": len(result.rounds),
        "ended_by": "time_horizon_s" if in_time else "n_rounds",
        **{key: identity[key] for key in ("trained", "genie", "device", "n_threads")},
        "dataset_origin": dataset.origin,
        "label_shares": _label_shares(job, dataset, partition),
        "digests": {
            "data set": identity["data set"],
            "partition": identity["partition"],
            "rounds.parquet": hashing.of_table(result.rounds),
            "ledger.parquet": hashing.of_table(result.ledger),
        },
        "class_accuracy": result.class_accuracy,
        "losses": job.scenario.losses_reported(job.selector),
        "diverged_round": result.diverged_round,
        "refused_updates": {
            "n": len(result.refused),
            "first": [{"round": t, "user": user} for t, user in result.refused[:10]],
        },
        "code_hash": identity["code"],
        "versions": identity["versions"],
        "hardware": hardware(),
        **course,
    }


def _label_shares(job: Job, dataset: Dataset, partition: Partition) -> dict[str, float | None] | None:
    """Share of a user's most frequent label over the users, and what is asked; None for a regression."""
    if not dataset.n_classes:
        return None
    shares = largest_shares(partition, dataset.train_y)
    found = {"smallest": shares.min(), "mean": shares.mean(), "largest": shares.max()}
    rounded = {name: round(float(share), 4) for name, share in found.items()}
    return {"asked": job.scenario.partition.asked_share, **rounded}
