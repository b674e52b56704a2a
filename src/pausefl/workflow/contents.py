"""What each report shows: the configuration, the demo, one scenario or one study."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pausefl.report.parts import ReportParts, ScenarioPart, StudyPart
from pausefl.workflow import captions, paths, targets
from pausefl.workflow.experiments import Experiments


def reports(table: Experiments) -> list[str]:
    """Names of the reports."""
    demo = [] if table.config.published else ["demo"]
    return ["all", *demo, *table.scenarios, *table.studies]


def parts(table: Experiments, report: str) -> ReportParts:
    """Everything that a report shows."""
    if report == "all":
        scenarios, studies, scales = list(table.config.scenarios), targets.reproduced(table), table.scales
    elif report == "demo":
        scenarios, studies, scales = list(table.demo.scenarios), [], table.demo_scales
    else:
        scenarios, studies, scales = [], [], []
        (scenarios if report in table.scenarios else studies).append(report)
    return ReportParts(
        name=report,
        scenarios={name: _scenario(table, name) for name in scenarios},
        studies={name: _study(table, name) for name in studies},
        claims={scale: f"results/claims/{scale}/claims.json" for scale in scales},
        texts=str(table.root / "workflow/report"),
        ledger=str(table.root / "docs/deviations.md"),
    )


def digest(table: Experiments, report: str) -> str:
    """Hash of what a report shows, captions included: a plain value, which Snakemake can compare."""
    return hashlib.sha256(repr(parts(table, report)).encode()).hexdigest()


def inputs(table: Experiments, report: str) -> list[str]:
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
        *[part.table for part in studies if part.table],
        *[part.partition for part in scenarios if part.partition],
        *[path for name in shown.scenarios for path in paths.summaries(table, name)],
        *shown.claims.values(),
        *sorted(str(path) for path in Path(shown.texts).glob("*.rst")),
        shown.ledger,
    ]


def _scenario(table: Experiments, name: str) -> ScenarioPart:
    kinds = targets.figure_kinds(table, name)
    tables = {Path(path).stem: path for path in paths.tables(table, name) if path.endswith(".md")}
    pictures = targets.partition_picture(table, name)
    words = captions.of_scenario(table, name, *kinds, *tables, "partition").made
    return ScenarioPart(
        settings=captions.settings(table, name),
        runs=paths.run_folders(table, name),
        figures={kind: f"results/figures/{name}/{kind}.svg" for kind in kinds},
        tables=tables,
        archive=tables["authors"].replace(".md", ".csv") if "authors" in tables else None,
        captions={kind: make() for kind, make in words.items()},
        partition=pictures[0] if pictures else None,
    )


def _study(table: Experiments, name: str) -> StudyPart:
    text = f"results/studies/{name}/summary.md"
    return StudyPart(
        kind=table.studies[name].kind,
        title=table.studies[name].title,
        caption=captions.of_study(table, name).made[name](),
        figures=tuple(table.repeated_figures(name)) or (name,),
        figure=f"results/studies/{name}/{name}.svg",
        table=text if text in paths.study_plots(table, name) else None,
    )
