"""The workflow on a Slurm cluster: the same results as without, whatever happens there."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from slurm import Cluster, submitted, wait_until
from workspace import Checkout

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

RUNS = [f"results/runs/tiny/pause/seed-{seed}" for seed in (0, 1)]
#: Of a job that is stopped and goes on.
MANY_ROUNDS = 15_000


def targets(*runs: str) -> tuple[str, ...]:
    """The files to ask for to get some runs."""
    return tuple(f"{run}/summary.json" for run in runs)


def results(checkout: Checkout, *runs: str) -> dict[str, bytes]:
    """What must be the same wherever a job ran."""
    names = ("rounds.parquet", "ledger.parquet")
    return {f"{run}/{name}": (checkout.root / run / name).read_bytes() for run in runs for name in names}


@pytest.fixture
def copy(finished: Checkout, tmp_path: Path) -> Callable[..., Checkout]:
    """Makes a copy of it, with all that is compiled, but without these folders."""

    def make(*without: str) -> Checkout:
        return finished.copy(tmp_path / "copy", ".snakemake", *without)

    return make


def test_results_are_those_of_one_machine(
    cluster: Cluster, finished: Checkout, copy: Callable[..., Checkout]
) -> None:
    """From the data to a figure; a job that asks for a GPU asks Slurm for it."""
    checkout = copy("data", "results")
    row = {"scenario": "tiny", "selectors": ["pause"], "seeds": [0, 1]}
    checkout.write_config(experiments=[row])
    gpu = ("--set-resources", "job:gpu=1", "--resources", "gpu=1")
    with submitted(checkout, *gpu, "--", "tiny_accuracy") as submission:
        submission.finish()
    assert results(checkout, *RUNS) == results(finished, *RUNS)
    assert (checkout.root / "results/figures/tiny_accuracy.pdf").stat().st_size > 0
    assert "Trying to restart" not in submission.log
    assert cluster.ask("scontrol", "show", "jobs").count("gres:gpu:1") == len(RUNS)


def test_a_cancelled_job_goes_on(cluster: Cluster, copy: Callable[..., Checkout]) -> None:
    checkout = copy("results")
    checkout.write_scenario(training={"n_rounds": MANY_ROUNDS})
    run = RUNS[0]
    with submitted(checkout, *targets(run)) as submission:
        wait_until((checkout.root / run / "job.lock").exists, 600, "the job trains")
        time.sleep(1)
        (number,) = cluster.jobs("RUNNING")
        cluster.ask("scancel", number)
        submission.finish()
    (after,) = json.loads((checkout.root / run / "summary.json").read_text("utf-8"))["resumed_from_rounds"]
    assert 0 < after < MANY_ROUNDS
    there = results(checkout, run)
    # The same without Slurm and without a stop.
    shutil.rmtree(checkout.root / run)
    checkout.snakemake("--cores", "1", *targets(run))
    assert there == results(checkout, run)
