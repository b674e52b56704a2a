"""Judge the papers' claims at one scale."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.claims import page
from pausefl.claims.load import Claims
from pausefl.claims.records import Records
from pausefl.claims.verdicts import evaluate
from pausefl.files import replacing
from pausefl.settings.scenario import Scenario, scenario_of_job
from pausefl.studies import Studies, study_of

output, params, scale = snakemake.output, snakemake.params, snakemake.wildcards.scale
with logged(snakemake.log[0]):
    scenarios = {name: scenario_of_job(settings) for name, settings in params.scenarios.items()}
    studies = Studies({name: study_of(*study) for name, study in params.studies.items()})
    tables = dict(zip(scenarios, map(Path, snakemake.input.tables), strict=True))
    claims = Claims.read({"claims": params.claims}, "claims").claims
    logs = {name: Scenario.read(settings, "scenario") for name, settings in params.logs.items()}
    finished = Path("results/published") if params.published else Path(output.json).parents[2]
    records = Records(scenarios, params.runs, studies, finished, tables, logs)
    judged = evaluate(claims, records, scale)
    paths = [Path(path) for path in (output.json, output.table, output.text)]
    with replacing(*paths) as (as_json, as_table, as_text):
        as_json.write_text(page.to_json(judged, scale, params.code), encoding="utf-8")
        page.to_frame(judged, scale).to_csv(as_table, index=False)
        text = f"Runs at scale **{scale}**: {page.summary_line(judged)}.\n\n{page.to_markdown(judged)}"
        as_text.write_text(text, encoding="utf-8")
