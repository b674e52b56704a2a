"""Small jobs that one process makes one after another, because starting a process takes longer than they do.

A batch has the small jobs of a scenario and seed: they share data and partition, and another seed is another
batch. Snakemake does not remove the files of a batch when it starts, so that it makes only what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.errors import PauseflError
from pausefl.project import Project
from pausefl.results.published import RunFiles
from pausefl.results.runs import has_settings
from pausefl.results.verified import current_codes
from pausefl.settings import Experiment
from pausefl.workflow import paths, plan

#: How the names of the rules begin that make batches.
RULE = "jobs_"


@dataclass(frozen=True)
class Batches:
    """What one rule makes: a batch for each scenario and seed, with files of the same names."""

    selectors: tuple[str, ...]
    scenarios: tuple[str, ...]
    seeds: tuple[int, ...]

    def jobs(self, wildcards: Any) -> list[Experiment]:
        """Those of one scenario and seed, from Snakemake's wildcards."""
        return [Experiment(wildcards.scenario, one, int(wildcards.seed)) for one in self.selectors]


@cache
def rules(table: Project) -> dict[str, Batches]:
    """Rules that make all batches, by name. A job that is alone in its batch has none."""
    seeds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for jobs in plan.batches(table):
        first = jobs[0]
        seeds.setdefault((first.scenario, tuple(job.selector for job in jobs)), []).append(first.seed)
    scenarios: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (scenario, selectors), own in seeds.items():
        scenarios.setdefault((selectors, tuple(own)), []).append(scenario)
    return {
        f"{RULE}{n}": Batches(selectors, tuple(names), own)
        for n, ((selectors, own), names) in enumerate(scenarios.items(), start=1)
    }


def jobs_of(table: Project, rule: str, wildcards: Any) -> list[Experiment]:
    """Jobs that a step of Snakemake makes; none if its rule makes none."""
    if rule == "job":
        return [paths.experiment_of(wildcards)]
    return rules(table)[rule].jobs(wildcards) if rule in rules(table) else []


def inputs(table: Project, jobs: list[Experiment]) -> dict[str, Any]:
    """What jobs of one scenario and seed read (`paths.job_inputs`)."""
    each = [paths.job_inputs(table, job) for job in jobs]
    return each[0] | {"trained_by": [path for one in each for path in one["trained_by"]]}


def discard(table: Project, jobs: list[Experiment], forced: bool) -> None:
    """Remove results of a batch that is to be made: those of other settings or code, or all if ``forced``.

    Of any other rule Snakemake removes all results. If a job of the batch fails, it puts back what was there.
    """
    for job in jobs:
        folder = Path(paths.run_folder(table, job))
        if forced or not _is_current(table, job, folder):
            for name in paths.RUN_FILES:
                (folder / name).unlink(missing_ok=True)


def _is_current(table: Project, job: Experiment, folder: Path) -> bool:
    """Whether there is a run with settings and code of today."""
    one = table.job_scenarios[job.scenario]
    codes = current_codes(one, [job.selector], Path("results/published"))[job.selector]
    try:
        return has_settings(folder, one) and RunFiles.of(folder).summary()["code_hash"] in codes
    except (KeyError, PauseflError):
        return False
