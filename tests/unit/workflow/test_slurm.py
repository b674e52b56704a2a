"""What Snakemake and Slurm wrote, read back as one line a failed job."""

from __future__ import annotations

from pathlib import Path

import pytest

from pausefl.workflow.slurm import absence, failures

STARTED = """
[Sat Nov 21 13:59:19 2026]
rule job:
    input: data/prepared/digits.npz
    output: results/runs/tiny/pause/seed-0/rounds.parquet
    log: results/logs/job/tiny/pause/seed-0.log
    jobid: {jobid}
    wildcards: scenario=tiny, selector=pause, seed=0
    resources: tmpdir=<TBD>, runtime=60, mem_mb=4000, mem=4 GB, mem_mib=3815
Shell command: None
"""
FAILED = """
[Sat Nov 21 14:00:31 2026]
Error in rule job:
    message: SLURM-job '{number}' failed, SLURM status is: '{state}'. For further error details see the log.
    jobid: {jobid}
    output: results/runs/tiny/pause/seed-0/rounds.parquet
    log: results/logs/job/tiny/pause/seed-0.log, /somewhere/{number}.log (check log file(s) for error details)
    external_jobid: {number}
"""
REFUSED = """
Error in rule job:
    message: SLURM sbatch failed. The error message was 'sbatch: error: invalid partition specified: mian
sbatch: error: Batch job submission failed: Invalid partition name specified'.
    sbatch call:
        sbatch --parsable
For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: 3
    output: results/runs/tiny/pause/seed-0/rounds.parquet
    log: results/logs/job/tiny/pause/seed-0.log (check log file(s) for error details)
"""
JOB = "job (scenario=tiny, selector=pause, seed=0) "


def failed(state: str, jobid: int = 3, number: str = "21") -> str:
    """A job that starts and fails."""
    return STARTED.format(jobid=jobid) + FAILED.format(jobid=jobid, number=number, state=state)


@pytest.mark.parametrize(
    ("state", "said", "told"),
    [
        ("TIMEOUT", "", "reached its time limit of 60 minutes: give it more, --set-resources job:runtime=N"),
        (
            "FAILED",
            "slurmstepd: error: *** JOB 21 ON n1 CANCELLED AT 2026-11-21T14:00:26 DUE TO TIME LIMIT ***",
            "reached its time limit",
        ),
        (
            "OUT_OF_MEMORY",
            "",
            "went over its memory limit of 4000 MB: give it more, --set-resources job:mem_mb=N",
        ),
        (
            "FAILED",
            "slurmstepd-node1: error: Exceeded job memory limit\n"
            "slurmstepd-node1: error: *** JOB 21 ON node1 CANCELLED AT 2026-11-21T14:00:26 ***",
            "went over its memory limit",
        ),
        (
            "FAILED",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=21.batch.",
            "went over its memory limit",
        ),
        ("CANCELLED", "", "was cancelled: start the workflow again"),
        ("NODE_FAIL", "", "lost its node"),
        ("FAILED", "", "failed of itself: see results/logs/job/tiny/pause/seed-0.log"),
        ("FAILED", "what a script prints of a TIMEOUT is no cause", "failed of itself"),
    ],
)
def test_the_cause_is_named(tmp_path: Path, state: str, said: str, told: str) -> None:
    folder = tmp_path / "rule_job/tiny_pause_0"
    folder.mkdir(parents=True)
    (folder / "21.log").write_text(f"started\n{said}\n", "utf-8")
    (failure,) = failures(failed(state), tmp_path)
    assert str(failure).startswith(JOB + told)


def test_the_log_of_a_task_of_an_array_is_found(tmp_path: Path) -> None:
    (tmp_path / "rule_job").mkdir()
    (tmp_path / "rule_job/21_2.log").write_text("slurmstepd: error: Exceeded job memory limit\n", "utf-8")
    assert [f.cause for f in failures(failed("FAILED", number="21_2"), tmp_path)] == ["memory"]


def test_what_sbatch_refused_is_told_in_its_words(tmp_path: Path) -> None:
    (failure,) = failures(STARTED.format(jobid=3) + REFUSED, tmp_path)
    reason = "invalid partition specified: mian; Invalid partition name specified"
    assert (
        str(failure) == f"{JOB}was refused by Slurm ({reason}): see partition and account in profiles/slurm"
    )


def test_a_later_try_that_succeeds_makes_good_for_it(tmp_path: Path) -> None:
    log = failed("TIMEOUT") + STARTED.format(jobid=3) + "Finished jobid: 3 (Rule: job)\n"
    assert failures(log, tmp_path) == []


def test_the_last_of_several_tries_counts(tmp_path: Path) -> None:
    log = failed("CANCELLED", number="20") + failed("TIMEOUT", number="21") + failed("TIMEOUT", jobid=4)
    assert [failure.cause for failure in failures(log, tmp_path)] == ["time", "time"]


def test_the_log_of_a_node_that_is_shown_is_not_taken_for_this_one(tmp_path: Path) -> None:
    title = "Logfile /somewhere/21.log:"
    ruler = "=" * len(title)
    shown = f"{title}\n{ruler}\n\nSNAKEMAKE\n=========\n{failed('None', jobid=0)}{ruler}\n"
    assert [failure.cause for failure in failures(failed("TIMEOUT") + shown, tmp_path)] == ["time"]


def test_a_machine_without_slurm_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no Slurm on this machine" in absence()
    assert "leave out --profile profiles/slurm" in absence()
    (tmp_path / "sbatch").touch(mode=0o755)
    assert absence() == ""
