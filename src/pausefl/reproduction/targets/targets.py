"""What can be asked for by name, and the files that it stands for, relative to the working directory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pausefl.analysis.figures.kinds import FIGURES
from pausefl.errors import ConfigError, suggest
from pausefl.plugins import as_folder, from_folder
from pausefl.reproduction.claims.load import Claim, places
from pausefl.reproduction.figures import overview
from pausefl.reproduction.figures.papers import in_parts
from pausefl.reproduction.report import charts
from pausefl.reproduction.targets.project import Project
from pausefl.runs.collected import FILES, run_folder
from pausefl.runs.run import RUN_FILES
from pausefl.runs.run_id import RunId

#: Files of a figure.
FIGURE_FILES = ("pdf", "png", "json")
#: Files of the verdicts at a scale.
CLAIM_FILES = ("claims.json", "claims.md")


@dataclass(frozen=True)
class Target:
    """Something that can be asked for by name, and the files that it ends in."""

    name: str
    title: str
    files: Sequence[str]


@dataclass(frozen=True)
class Shown:
    """What a report shows: names of scenarios, of studies, and scales of verdicts."""

    scenarios: Sequence[str] = ()
    studies: Sequence[str] = ()
    scales: Sequence[str] = ()


def shown(project: Project, report: str) -> Shown:
    """What the report of the configuration (``all``), the demo, a scenario or a study shows."""
    if report == "all":
        return Shown(project.own, project.reproduced, project.scales)
    if report == "demo":
        return Shown(project.demo, (), project.demo_scales)
    return Shown((report,)) if report in project.scenarios else Shown((), (report,))


@cache
def targets(project: Project) -> dict[str, Target]:
    """Every target by name; `pausefl.reproduction.targets.checks` refuses equal names."""
    studies = project.studies
    all_targets = [
        Target(name, one.title, of_scenario(project, name)) for name, one in project.scenarios.items()
    ]
    for name, (scenario, shown) in project.figures.items():
        title = f"{FIGURES[shown.kind].shows}: {project.scenarios[scenario].title}"
        all_targets.append(Target(name, title, figure_files(name)))
    for name, study in studies.items():
        all_targets.append(Target(name, f"{study.label}: {study.title}", of_study(project, name)))
    by_name = {target.name: target.files for target in all_targets}
    for name, parts in in_parts(by_name).items():
        all_targets.append(Target(name, ", ".join(parts), [file for part in parts for file in by_name[part]]))
    for claim in project.claims:
        files = [file for scale in project.scales for file in claim_inputs(project, scale, [claim])]
        all_targets.append(Target(f"claim_{claim.id}", f"what this claim needs: {claim.sentence}", files))
    untrained = [file for name in studies if not studies[name].trained for file in by_name[name]]
    beyond = [file for name in studies if studies[name].beyond for file in by_name[name]]
    all_targets += [
        Target("studies", "all studies without training", untrained),
        Target("benchmark", "selectors side by side, beyond the papers", beyond),
        Target("all", "everything that the configuration asks for", reported(project, "all")),
        Target("demo", "everything on an embedded data set, in minutes", reported(project, "demo")),
    ]
    return {target.name: target for target in all_targets}


def aliases(project: Project) -> list[str]:
    """Names of targets that no rule has."""
    return [name for name in targets(project) if name not in ("all", "demo", "studies", "benchmark")]


def find(project: Project, name: str) -> Target:
    """A target by its name; `ConfigError` if there is none."""
    known = targets(project)
    if name in project.undrawn:
        raise ConfigError(project.undrawn[name])
    if name not in known:
        raise ConfigError(
            f"unknown target '{name}', or not part of this configuration."
            f" {suggest(name, known).partition('Allowed:')[0]}All names: pausefl list"
        )
    return known[name]


def reported(project: Project, report: str) -> list[str]:
    """A report with everything that it shows."""
    content = shown(project, report)
    files = [file for name in content.scenarios for file in of_scenario(project, name)]
    files += [file for name in content.studies for file in of_study(project, name)]
    files += [f"results/claims/{scale}/{name}" for scale in content.scales for name in CLAIM_FILES]
    files += overview_files(project) if report == "all" else []
    return [*files, f"results/report/{report}.html"] if files else []


def of_scenario(project: Project, scenario: str) -> list[str]:
    """All that a scenario ends in; its runs too, so that a lost one is made again."""
    figures = [figure for figure, (name, _) in project.figures.items() if name == scenario]
    return [
        *([] if project.config.published else run_files(project.experiments[scenario])),
        *collected_files(project, scenario),
        f"results/tables/{scenario}",
        *[file for figure in figures for file in figure_files(figure)],
        *partition_picture(project, scenario),
    ]


def of_study(project: Project, study: str) -> list[str]:
    """All that a study ends in; what it computes too, so that it is made again if lost."""
    one = project.studies[study]
    tables = f"results/tables/{study}"
    verdict = [f"results/verdicts/{study}.txt"] if one.judged else []
    return [f"{project.studies_folder}/{study}", *figure_files(study), tables, *verdict]


def figure_files(figure: str) -> list[str]:
    """Files of a figure."""
    return [f"results/figures/{figure}.{suffix}" for suffix in FIGURE_FILES]


def job_of(wildcards: Any) -> RunId:
    """The job that a file of a run belongs to."""
    return RunId(wildcards.scenario, from_folder(wildcards.selector), int(wildcards.seed))


def trained_by(project: Project, job: RunId) -> list[str]:
    """Files of the run whose training a job takes over; none if there is none."""
    other = project.trained_by(job)
    return run_files([other] if other else [])


def run_files(jobs: Iterable[RunId]) -> list[str]:
    """Files of jobs."""
    return [f"{run_folder(Path('results/runs'), job)}/{name}" for job in jobs for name in RUN_FILES]


def collected_files(project: Project, scenario: str) -> list[str]:
    """Files with all runs of a scenario."""
    return [f"{project.runs_folder}/{scenario}/{name}" for name in FILES]


def partition_picture(project: Project, scenario: str) -> list[str]:
    """Picture of the partition of a scenario's first seed; with published runs there are no data to show.

    Those of the other seeds look the same. They can be asked for by path.
    """
    if project.config.published:
        return []
    file = project.partition_file(scenario).format(seed=project.seeds(scenario)[0])
    return [file.replace(".npz", ".png")]


def overview_files(project: Project) -> list[str]:
    """What opens the report of a configuration with figures of accuracy of PAUSE v2; else nothing."""
    files = [*figure_files("overview"), "results/tables/charts.json"]
    return files if overview.scenarios(project.own) else []


def overview_scenarios(project: Project) -> list[str]:
    """Scenarios that the overview shows."""
    return [name for name in charts.scenarios() if name in project.own]


def numbers_inputs(project: Project) -> list[str]:
    """The published runs and studies, which the numbers of pages are made from."""
    published = project.root / "results/published"
    return sorted(str(path) for files in ("*/runs.jsonl", "studies/*/*") for path in published.glob(files))


def claim_places(project: Project, scale: str, claims: Sequence[Claim] = ()) -> tuple[list[str], list[str]]:
    """Scenarios and studies on which claims are tested at a scale; all claims by default.

    Some studies stand in for runs of a scenario.
    """
    scenarios, studies = places(claims or project.claims, scale)
    studies |= {project.studies.simulation_of(name) or "" for name in scenarios}
    return sorted(scenarios & project.scenarios.keys()), sorted(studies & project.studies.keys())


def claim_inputs(project: Project, scale: str, claims: Sequence[Claim] = ()) -> list[str]:
    """Collected runs and tables of studies that claims need at a scale."""
    scenarios, studies = claim_places(project, scale, claims)
    runs = [file for name in scenarios for file in collected_files(project, name)]
    return runs + [f"{project.studies_folder}/{name}" for name in studies]


def metrics_files(project: Project) -> list[str]:
    """The small files that Git keeps and DVC compares."""
    runs = [(name, one) for name in project.own for one in project.selectors(name)]
    return [
        *[f"results/metrics/{name}/{as_folder(one)}.json" for name, one in runs],
        *[f"results/metrics/claims/{scale}.json" for scale in project.scales],
        *[f"results/plots/{name}.csv" for name in project.own],
    ]


def needs(project: Project, target: Target) -> tuple[list[str], list[str]]:
    """Scenarios and studies that a target needs, as its files tell."""
    names = {part.partition(".")[0] for file in target.files for part in Path(file).parts}
    names |= {project.figures[name].scenario for name in names & project.figures.keys()}
    return [n for n in project.scenarios if n in names], [n for n in project.studies if n in names]


def jobs(project: Project, target: Target) -> list[RunId]:
    """Jobs that a target needs."""
    scenarios, studies = needs(project, target)
    found = [job for name in scenarios for job in project.experiments[name]]
    if not project.config.published:
        found += [job for name in studies for job in project.runs_of_study(name)]
    return list(dict.fromkeys(found))
