"""Small jobs of a scenario and seed in one process."""

from __future__ import annotations

import shutil

import pytest
from workspace import Checkout

RUNS = {
    (name, seed): f"results/runs/tiny/{name}/seed-{seed}" for name in ("pause", "fedavg") for seed in (0, 1)
}
NAMES = ("rounds.parquet", "ledger.parquet")


def results(checkout: Checkout) -> dict[str, bytes]:
    """What must be the same however jobs are made."""
    return {
        f"{run}/{name}": (checkout.root / run / name).read_bytes() for run in RUNS.values() for name in NAMES
    }


def summary(checkout: Checkout, run: str) -> str:
    """What a run says of itself, with the time that it took: something else if it is made anew."""
    return (checkout.root / run / "summary.json").read_text("utf-8")


def made_alone(checkout: Checkout) -> None:
    """Let each job have a process of its own."""
    checkout.edit("src/pausefl/workflow/plan.py", "_SMALL_S = 20", "_SMALL_S = 0")


@pytest.mark.slow
def test_results_are_those_of_jobs_alone_which_stay_when_they_come_into_a_batch(
    copy: Checkout, finished: Checkout
) -> None:
    shutil.rmtree(copy.root / "results/runs")
    made_alone(copy)
    assert copy.planned()["job"] == 4
    copy.snakemake("--cores", "2", *(f"{run}/rounds.parquet" for run in RUNS.values()))
    assert results(copy) == results(finished)
    before = {run: summary(copy, run) for run in RUNS.values()}
    copy.edit("src/pausefl/workflow/plan.py", "_SMALL_S = 0", "_SMALL_S = 20")
    copy.snakemake("--cores", "2")
    assert {run: summary(copy, run) for run in RUNS.values()} == before
    assert copy.planned() == {}


@pytest.mark.slow
def test_a_job_that_fails_is_named_and_the_others_are_kept(copy: Checkout, finished: Checkout) -> None:
    shutil.rmtree(copy.root / "results/runs")
    wanted = f"{RUNS['pause', 0]}/rounds.parquet"
    # A folder in the place of a file.
    blocked = copy.root / RUNS["pause", 0] / "state.npz"
    blocked.mkdir(parents=True)
    output = copy.snakemake("--cores", "1", wanted, ok=False)
    assert "FAILED: train tiny seed 0" in output
    assert "1 of 2 jobs failed; the others are done" in output
    assert "restore" not in output.lower()
    assert "pause: " in output.split("the others are done")[1]
    other = RUNS["fedavg", 0]
    there = summary(copy, other)
    blocked.rmdir()
    copy.snakemake("--cores", "1", wanted)
    assert summary(copy, other) == there
    copy.snakemake("--cores", "1")
    assert results(copy) == results(finished)


@pytest.mark.slow
def test_what_is_forced_or_has_other_code_is_made_anew(copy: Checkout, finished: Checkout) -> None:
    before = {name: summary(copy, RUNS[name, 0]) for name in ("pause", "fedavg")}
    wanted = f"{RUNS['pause', 0]}/summary.json"
    copy.snakemake("--cores", "1", "--force", wanted)
    after = {name: summary(copy, RUNS[name, 0]) for name in before}
    assert all(after[name] != before[name] for name in before)
    assert results(copy) == results(finished)
    copy.edit(
        "src/pausefl/selectors/baselines.py",
        "class Everyone(Selector):",
        "class Everyone(Selector):\n    unused = 0\n",
    )
    copy.snakemake("--cores", "1", wanted)
    assert summary(copy, RUNS["fedavg", 0]) != after["fedavg"]
    assert summary(copy, RUNS["pause", 0]) == after["pause"]
