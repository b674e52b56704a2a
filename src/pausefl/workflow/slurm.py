"""Why jobs of a workflow on a Slurm cluster failed, in one line each."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: What Snakemake writes when a job starts (first line: its rule), fails, or is done.
_EVENT = re.compile(
    r"^(?P<failed>Error in )?(?:local)?rule (?P<rule>\w+):\n"
    r"(?P<fields>(?:.*\n)*?) {4}jobid: (?P<jobid>\d+)\n(?P<more>(?: {4}.*\n)*)"
    r"|^Finished jobid: (?P<finished>\d+) ",
    re.M,
)
#: The logs of a failed job, which are shown between two lines of the length of their title.
_SHOWN_LOG = re.compile(r"^Logfile .*:\n(=+)\n(?:.*\n)*?\1$", re.M)
#: Why ``sbatch`` took no job.
_REFUSAL = re.compile(r"sbatch: error: (?:Batch job submission failed: )?([^\n']+)")
#: What Slurm itself writes to the log of its job.
_SLURM_SAYS = re.compile(r"^(?:slurmstepd|srun|slurmd).*", re.M)
#: What Slurm says in its name of a state or in the log of its job, and what that means.
_CAUSES = {
    "memory": re.compile(r"OUT_OF_MEMORY|[Ee]xceeded (?:job )?memory limit|oom[-_ ]kill"),
    "time": re.compile(r"TIMEOUT|DUE TO TIME LIMIT"),
    "node": re.compile(r"NODE_FAIL|BOOT_FAIL|DUE TO NODE FAILURE"),
    "preempted": re.compile(r"PREEMPTED|DUE TO PREEMPTION"),
    "cancelled": re.compile(r"CANCELLED"),
}
#: What happened, and what to do about it.
_ADVICE = {
    "memory": "went over its memory limit of {mem_mb} MB: give it more, --set-resources {rule}:mem_mb=N",
    "time": "reached its time limit of {runtime} minutes: give it more, --set-resources {rule}:runtime=N",
    "node": "lost its node: start the workflow again",
    "preempted": "had to make room for another job: start the workflow again",
    "cancelled": "was cancelled: start the workflow again",
    "refused": "was refused by Slurm ({reason}): see partition and account in profiles/slurm",
    "itself": "failed of itself: see {log}",
}


@dataclass(frozen=True)
class Failure:
    """A job that failed, with no later try that succeeded.

    Attributes
    ----------
    rule, wildcards
        Which job of the workflow.
    cause
        ``memory``, ``time``, ``node``, ``preempted``, ``cancelled``, ``refused`` by sbatch, or ``itself``.
    details
        What the advice names: ``mem_mb``, ``runtime``, ``reason``, ``log``.
    """

    rule: str
    wildcards: str
    cause: str
    details: Mapping[str, str]

    def __str__(self) -> str:
        job = f"{self.rule} ({self.wildcards})" if self.wildcards else self.rule
        return f"{job} {_ADVICE[self.cause].format(rule=self.rule, **self.details)}"


def failures(log: str, slurm_logs: Path) -> list[Failure]:
    """Jobs that failed in the end.

    Parameters
    ----------
    log
        What Snakemake wrote.
    slurm_logs
        Folder in which its Slurm plugin keeps what Slurm wrote of each job.
    """
    started: dict[str, dict[str, str]] = {}
    failed: dict[str, Failure] = {}
    for event in _EVENT.finditer(_SHOWN_LOG.sub("", log)):
        if event["finished"]:
            failed.pop(event["finished"], None)
            continue
        jobid = event["jobid"]
        lines = [line.strip() for line in (event["fields"] + event["more"]).splitlines()]
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        if event["failed"]:
            refusal = "; ".join(_REFUSAL.findall(event["fields"]))
            failed[jobid] = _failure(event["rule"], started.get(jobid, {}), fields, refusal, slurm_logs)
        else:
            started[jobid] = fields
    return list(failed.values())


def _failure(
    rule: str, start: Mapping[str, str], end: Mapping[str, str], refusal: str, slurm_logs: Path
) -> Failure:
    """One failure, from what Snakemake wrote when the job started and when it failed."""
    number = end.get("external_jobid")
    # A task of an array writes to another folder than the plugin says.
    logs = sorted(slurm_logs.rglob(f"{number}.log")) if number else []
    said = [line for path in logs for line in _SLURM_SAYS.findall(path.read_text("utf-8", "replace"))]
    reported = "\n".join([end.get("message", ""), *said])
    cause = next((cause for cause, pattern in _CAUSES.items() if pattern.search(reported)), "itself")
    resources = dict(pair.split("=", 1) for pair in start.get("resources", "").split(", ") if "=" in pair)
    details = {
        "mem_mb": resources.get("mem_mb", "?"),
        "runtime": resources.get("runtime", "?"),
        "reason": refusal,
        "log": end.get("log", "").split(", ")[0].split(" (")[0] or "its log",
    }
    return Failure(rule, start.get("wildcards", ""), "refused" if refusal else cause, details)


def absence() -> str:
    """A sentence if there is no Slurm on this machine; empty if there is."""
    if shutil.which("sbatch"):
        return ""
    return (
        "there is no Slurm on this machine (no command sbatch): run this on a login node of the cluster, or"
        " leave out --profile profiles/slurm to run here"
    )
