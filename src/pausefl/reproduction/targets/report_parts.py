"""What each report shows, and what claims are tested on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from pausefl.data.raw_data import make_source
from pausefl.reproduction.claims.formats import checks_to_markdown
from pausefl.reproduction.claims.load import scenarios_as_run
from pausefl.reproduction.report import messages
from pausefl.reproduction.report.parts import ReportParts, ScenarioPart, StudyPart
from pausefl.reproduction.studies.words import caption
from pausefl.reproduction.targets import targets
from pausefl.reproduction.targets.project import Project


@cache
def parts(project: Project, report: str) -> ReportParts:
    """Everything that a report shows."""
    shown = targets.shown(project, report)
    return ReportParts(
        name=report,
        scenarios={name: _scenario(project, name) for name in shown.scenarios},
        studies={name: _study(project, name) for name in shown.studies},
        claims={scale: f"results/claims/{scale}/claims.json" for scale in shown.scales},
        checks=checks_to_markdown(project.checks),
        published=project.config.published,
        overview=targets.overview_files(project) if report == "all" else (),
    )


def inputs(project: Project, report: str) -> list[str]:
    """Every file and folder of results that a report reads."""
    content = parts(project, report)
    figures = [figure for part in content.scenarios.values() for figure in part.figures.values()]
    pictures = [*dict.fromkeys(path for _, path in figures)]
    pictures += [part.figure for part in content.studies.values()]
    return [
        *[str(Path(path).with_suffix(f".{suffix}")) for path in pictures for suffix in targets.FIGURE_FILES],
        *[f"results/tables/{name}" for name in (*content.scenarios, *content.studies)],
        *[part.partition for part in content.scenarios.values() if part.partition],
        *content.claims.values(),
        *content.overview,
    ]


def documents(project: Project, report: str) -> list[str]:
    """Every page and picture of the documentation that a report reads, the ledger first."""
    docs = project.root / "docs"
    content = parts(project, report)
    names = messages.files(docs) if content.overview and content.published else []
    return [str(docs / name) for name in (messages.LEDGER, *names)]


def tested_on(project: Project, scale: str) -> dict[str, Any]:
    """Claims, and what they are tested on at a scale, in plain values without titles."""
    scenarios, studies = targets.claim_places(project, scale)
    return {
        "claims": [claim.model_dump(exclude_unset=True) for claim in project.claims],
        "headlines": [one.model_dump() for one in project.headlines],
        "jobs": [job for name in scenarios for job in project.experiments[name]],
        "scenarios": {name: project.scenarios[name].job_settings() for name in scenarios},
        "studies": {name: (project.studies[name].kind, project.studies[name].settings()) for name in studies},
        "logs": {
            name: one.as_dict() for name, one in scenarios_as_run(project.claims, *project.folders).items()
        },
    }


def _scenario(project: Project, name: str) -> ScenarioPart:
    figures: dict[str, tuple[str, str]] = {}
    files: dict[str, str] = {}  # the same for all names of one picture
    for figure, (scenario, asked) in project.figures.items():
        if scenario == name:
            file = files.setdefault(repr(asked), f"results/figures/{figure}.png")
            figures[figure] = asked.kind, file
    one = project.scenarios[name]
    tables = {kind: f"results/tables/{name}/{kind}.md" for kind in project.tables(name)}
    return ScenarioPart(
        scenario=one,
        settings=project.settings(name),
        runs=tuple(project.experiments[name]),
        figures=figures,
        tables=tables,
        summary=tables["summary"].replace(".md", ".csv"),
        origin=make_source(one.data, project.config.raw).describe(),
        partition=next(iter(targets.partition_picture(project, name)), ""),
    )


def _study(project: Project, name: str) -> StudyPart:
    study, figures = project.studies[name], project.repeated_figures(name)
    return StudyPart(
        title=study.title,
        scale=study.in_scenario.scale if study.in_scenario is not None else "",
        caption=caption(study, figures),
        figures=tuple(figures) or (name,),
        figure=f"results/figures/{name}.png",
    )
