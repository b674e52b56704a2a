"""How long the rest of a workflow will take.

A step is expected to take what it took last time (its benchmark), a job what `pausefl.workflow.plan` says,
anything else the start of a process; times how much longer than that the finished steps of its rule took.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pausefl.progress import about
from pausefl.project import Project
from pausefl.workflow import batches, plan


@dataclass(frozen=True)
class Step:
    """One job of Snakemake: its rule, the seconds that it is expected to take, and its cores."""

    rule: str
    seconds: float
    threads: int = 1


class Forecast:
    """What is left of a run: of all its ``steps``, by number, which share some cores."""

    def __init__(self, steps: Mapping[int, Step], cores: int) -> None:
        self.cores = cores
        self._left = dict(steps)
        self._started: dict[int, float] = {}
        #: Seconds that finished steps took and were expected to take, by rule.
        self._seen: dict[str, tuple[float, float]] = {}

    def start(self, number: int, now: float) -> None:
        """Take note that a step starts; ``now`` is in seconds since some moment."""
        self._started[number] = now

    def finish(self, number: int, now: float) -> None:
        """Take note that a step is finished, or will not be."""
        if (step := self._left.pop(number, None)) is not None:
            took, expected = self._seen.get(step.rule, (0.0, 0.0))
            took += now - self._started.get(number, now)
            self._seen[step.rule] = (took, expected + step.seconds)

    def seconds_left(self, now: float) -> float:
        """Estimate of the time to the end, if all cores are busy until then."""
        work = 0.0
        for number, step in list(self._left.items()):
            took, expected = self._seen.get(step.rule, (0.0, 0.0))
            seconds = step.seconds * (took / expected if expected else 1.0)
            seconds -= now - self._started.get(number, now)
            work += max(seconds, 0.0) * min(step.threads, self.cores)
        return work / self.cores

    def announcement(self) -> str:
        """What the run is expected to take, before it starts."""
        on = "1 core" if self.cores == 1 else f"{self.cores} cores"
        text = f"{len(self._left)} steps, {about(self.seconds_left(0.0))} on {on}"
        trains = any(step.rule.startswith(batches.JOB) for step in self._left.values())
        return f"{text}; a first run also compiles kernels." if trains else f"{text}."


def forecast(dag: Any, table: Project, cores: int) -> Forecast:
    """The forecast of what Snakemake has planned."""
    rates = plan.shipped_rates()
    steps = {
        dag.jobid(job): Step(job.rule.name, _expected(job, table, rates), job.threads)
        for job in dag.needrun_jobs()
    }
    return Forecast(steps, cores)


def _expected(job: Any, table: Project, rates: Mapping[str, Any]) -> float:
    """Seconds that a job of Snakemake is expected to take; none if it only collects."""
    if not job.output:
        return 0.0
    try:
        names, values = Path(job.benchmark or "").read_text("utf-8").splitlines()[:2]
        return float(dict(zip(names.split("\t"), values.split("\t"), strict=True))["s"])
    except (OSError, ValueError, KeyError):
        pass  # it has not run before
    seconds = math.nan
    if jobs := batches.jobs_of(table, job.rule.name, job.wildcards):
        seconds = plan.seconds_together(table, jobs, rates)
    return float(rates["start_s"]) if math.isnan(seconds) else seconds
