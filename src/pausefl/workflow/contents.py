"""What each report shows: the configuration, the demo, one scenario or one study."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from pausefl.data.sources import describe_origin
from pausefl.project import Project
from pausefl.registry import FIGURES, TABLES
from pausefl.report.parts import ReportParts, ScenarioPart, StudyPart
from pausefl.workflow import paths, targets


@cache
def parts(table: Project, report: str) -> ReportParts:
    """Everything that a report shows."""
    target = targets.find(table, report)
    return ReportParts(
        name=report,
        scenarios={name: _scenario(table, name) for name in target.scenarios},
        studies={name: _study(table, name) for name in target.studies},
        claims={scale: f"results/claims/{scale}/claims.json" for scale in target.scales},
        overview=paths.overview(table) if report == "all" else (),
        ledger=str(table.root / "docs/deviations.md"),
    )


def digest(table: Project, report: str) -> str:
    """Hash of what a report shows: a plain value, which Snakemake can compare."""
    records = [(name, one.label, one.deviations) for name, one in (*FIGURES.items(), *TABLES.items())]
    return hashlib.sha256(repr((parts(table, report), records)).encode()).hexdigest()


def inputs(table: Project, report: str) -> list[str]:
    """Every file that a report reads."""
    shown = parts(table, report)
    scenarios, studies = shown.scenarios.values(), shown.studies.values()
    pictures = [path for part in scenarios for path in part.figures.values()]
    pictures += [part.figure for part in studies]
    return [
        *pictures,
        *[str(Path(path).with_suffix(suffix)) for path in pictures for suffix in (".pdf", ".json")],
        *[path for part in scenarios for path in part.tables.values()],
        *[part.archive for part in scenarios if part.archive],
        *[part.summary for part in scenarios],
        *[part.table for part in studies if part.table],
        *[part.partition for part in scenarios if part.partition],
        *shown.claims.values(),
        *shown.overview,
        shown.ledger,
    ]


def located(parts: ReportParts, names: Sequence[str], files: Sequence[str]) -> ReportParts:
    """A report of ``files`` in place of those of `inputs`, ``names``: copies of what a storage has."""
    where = dict(zip(names, map(str, files), strict=True))

    def of_scenario(part: ScenarioPart) -> ScenarioPart:
        return replace(
            part,
            figures={kind: where[path] for kind, path in part.figures.items()},
            tables={name: where[path] for name, path in part.tables.items()},
            summary=where[part.summary],
            archive=part.archive and where[part.archive],
            partition=part.partition and where[part.partition],
        )

    def of_study(part: StudyPart) -> StudyPart:
        return replace(part, figure=where[part.figure], table=part.table and where[part.table])

    return replace(
        parts,
        scenarios={name: of_scenario(part) for name, part in parts.scenarios.items()},
        studies={name: of_study(part) for name, part in parts.studies.items()},
        claims={scale: where[path] for scale, path in parts.claims.items()},
        overview=[where[path] for path in parts.overview],
        ledger=where[parts.ledger],
    )


def _scenario(table: Project, name: str) -> ScenarioPart:
    kinds = targets.figure_kinds(table, name)
    tables = {Path(path).stem: path for path in paths.tables(table, name) if path.endswith(".md")}
    pictures = targets.partition_picture(table, name)
    one = table.scenarios[name]
    return ScenarioPart(
        scenario=one,
        settings=table.settings(name),
        runs=tuple(table.experiments[name]),
        figures={kind: f"results/figures/{name}/{kind}.png" for kind in kinds},
        tables=tables,
        summary=tables["summary"].replace(".md", ".csv"),
        archive=tables["authors"].replace(".md", ".csv") if "authors" in tables else None,
        origin=describe_origin(one.data, table.config.raw),
        partition=pictures[0] if pictures else None,
    )


def _study(table: Project, name: str) -> StudyPart:
    text, study = f"results/studies/{name}/summary.md", table.studies[name]
    return StudyPart(
        kind=study.kind,
        title=study.title,
        scale=study.in_scenario.scale if study.in_scenario is not None else "",
        caption=study.caption(table.repeated_figures(name)),
        figures=tuple(table.repeated_figures(name)) or (name,),
        figure=f"results/studies/{name}/{name}.png",
        table=text if text in paths.study_plots(table, name) else None,
    )
