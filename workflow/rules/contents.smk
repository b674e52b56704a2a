# What each report has: that of all, of the demo, or of one scenario or study by its name.
import hashlib

import pausefl
from pausefl.figures.captions import caption, study_caption
from pausefl.report.parts import ReportParts, ScenarioPart, StudyPart

REPORTS = {"all", *([] if CONFIG.published else ["demo"]), *SCENARIOS, *STUDY_OUTPUTS}

# The page's template is no module, so the hash of the code does not know it.
REPORT_TEMPLATE = hashlib.sha256(
    b"".join(
        (Path(pausefl.__file__).parent / "report" / name).read_bytes()
        for name in ("page.html.jinja", "page.css")
    )
).hexdigest()


def report_parts(name):
    """Scenarios, studies and scales of claims that a report has."""
    if name == "all":
        return list(CONFIG.scenarios), list(STUDY_OUTPUTS), CLAIM_SCALES
    if name == "demo":
        return list(DEMO.scenarios), [], scales(CLAIMS, DEMO.scenarios, ())
    return [name] if name in SCENARIOS else [], [name] if name in STUDY_OUTPUTS else [], []


def scenario_part(name):
    """What a report has of a scenario."""
    partition = partition_path(name, SEEDS[name][0], "png")
    return ScenarioPart(
        settings=SCENARIOS[name].as_dict() | {"title": figure_title(name)},
        runs={row: run_folder(row) for row in EXPERIMENTS[name]},
        figures={kind: f"results/figures/{name}/{kind}.png" for kind in curves(name)},
        tables={table: f"results/tables/{name}/{table}.md" for table in tables(name)},
        captions={
            kind: caption(
                kind, SCENARIOS[name], SEEDS[name], describe_origin(SCENARIOS[name].data, CONFIG.raw)
            )
            for kind in [*curves(name), *tables(name), "partition"]
        },
        partition=partition if partition in scenario_outputs(name) else None,
    )


def study_part(name):
    """What a report has of a study."""
    table = f"results/studies/{name}/summary.md"
    return StudyPart(
        kind=STUDIES.kind(name),
        title=STUDIES.study(name).title,
        caption=study_caption(
            STUDIES.kind(name),
            STUDIES.study(name),
            leakage_figures(STUDIES.selection[name]) if name in STUDIES.selection else None,
        ),
        figures=tuple(leakage_figures(STUDIES.selection[name])) if name in STUDIES.selection else (name,),
        figure=f"results/studies/{name}/{name}.png",
        table=table if table in STUDY_OUTPUTS[name] else None,
    )


def report_sources(name):
    """Everything that a report shows."""
    scenarios, studies, scales_judged = report_parts(name)
    return ReportParts(
        name=name,
        scenarios={scenario: scenario_part(scenario) for scenario in scenarios},
        studies={study: study_part(study) for study in studies},
        claims={scale: f"results/claims/{scale}/claims.json" for scale in scales_judged},
        texts="workflow/report",
        ledger="docs/deviations.md",
    )


def report_inputs(wildcards):
    """Every file that a report reads."""
    sources = report_sources(wildcards.report)
    pictures = [path for part in sources.scenarios.values() for path in part.figures.values()]
    pictures += [part.figure for part in sources.studies.values()]
    return [
        *pictures,
        *[str(Path(path).with_suffix(".json")) for path in pictures],
        *[path for part in sources.scenarios.values() for path in part.tables.values()],
        *[part.table for part in sources.studies.values() if part.table],
        *[part.partition for part in sources.scenarios.values() if part.partition],
        *[f"{folder}/summary.json" for part in sources.scenarios.values() for folder in part.runs.values()],
        *sources.claims.values(),
        *sorted(str(path) for path in Path(sources.texts).glob("*.rst")),
        sources.ledger,
    ]
