"""The steps that train: each makes one job, or a batch, the small jobs of a scenario and seed.

To start a process takes longer than a small job does, so a batch shares one. Another seed is another batch.
Snakemake does not remove the files of such a step when it starts: it makes only what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from pausefl.errors import PauseflError
from pausefl.project import Project
from pausefl.results.published import RunFiles, run_name
from pausefl.results.runs import has_settings
from pausefl.results.verified import current_codes
from pausefl.settings import Experiment
from pausefl.workflow import paths, plan

#: The rule whose steps make one job each; ``jobs_1`` and so on make batches.
JOB = "job"


#: Folder of a selector's runs, with wildcards.
_folder = partial(run_name, "{scenario}", seed="{seed}")


@dataclass(frozen=True)
class Steps:
    """What one rule makes: a step for each scenario and seed, with files of the same names.

    Without ``selectors``, a step for each job; any that no other rule makes.
    """

    selectors: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()

    @property
    def runs(self) -> list[str]:
        """Folders of a step's jobs, with wildcards."""
        return [f"results/runs/{_folder(one)}" for one in self.selectors or ("{selector}",)]

    @property
    def about(self) -> str:
        """The path of what is said of a step, below that of its rule."""
        first, n_more = (self.selectors or ("{selector}",))[0], len(self.selectors) - 1
        return _folder(f"{first}_and_{n_more}_more" if n_more > 0 else first)

    @property
    def constraints(self) -> dict[str, str]:
        """Those of its wildcards, beyond what all rules have."""
        if not self.selectors:
            return {}
        return {"scenario": paths.one_of(self.scenarios), "seed": paths.one_of(map(str, self.seeds))}

    def jobs(self, wildcards: Any) -> list[Experiment]:
        """Those of a step, from Snakemake's wildcards."""
        if not self.selectors:
            return [paths.experiment_of(wildcards)]
        return [Experiment(wildcards.scenario, one, int(wildcards.seed)) for one in self.selectors]


@cache
def rules(table: Project) -> dict[str, Steps]:
    """All rules that train, by name, that of single jobs first."""
    seeds: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for jobs in plan.batches(table):
        first = jobs[0]
        seeds.setdefault((first.scenario, tuple(job.selector for job in jobs)), []).append(first.seed)
    scenarios: dict[tuple[tuple[str, ...], tuple[int, ...]], list[str]] = {}
    for (scenario, selectors), own in seeds.items():
        scenarios.setdefault((selectors, tuple(own)), []).append(scenario)
    batches = [Steps(selectors, tuple(names), own) for (selectors, own), names in scenarios.items()]
    return {JOB: Steps()} | {f"{JOB}s_{n}": own for n, own in enumerate(batches, start=1)}


def jobs_of(table: Project, rule: str, wildcards: Any) -> list[Experiment]:
    """Jobs that a step of Snakemake makes; none if its rule does not train."""
    return rules(table)[rule].jobs(wildcards) if rule in rules(table) else []


def inputs(table: Project, jobs: list[Experiment]) -> dict[str, Any]:
    """What jobs of one scenario and seed read (`paths.job_inputs`)."""
    each = [paths.job_inputs(table, job) for job in jobs]
    return each[0] | {"trained_by": [path for one in each for path in one["trained_by"]]}


def discard(table: Project, jobs: list[Experiment], forced: bool) -> None:
    """Remove results of a step that is to be made: those of other settings or code, or all if ``forced``.

    Of any other rule Snakemake removes all results. If a job of the step fails, it puts back what was there.
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
