"""Judge the papers' claims at one scale."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.claims import page
from pausefl.claims.load import load_claims, scenarios_as_run
from pausefl.claims.records import Records
from pausefl.claims.verdicts import evaluate
from pausefl.files import replacing
from pausefl.settings.scenario import scenario_of_job
from pausefl.studies import load_studies

output, params, scale = snakemake.output, snakemake.params, snakemake.wildcards.scale
with logged(snakemake.log[0]):
    files = {key: None if path is None else Path(path) for key, path in params.files.items()}
    scenarios = {name: scenario_of_job(settings) for name, settings in params.scenarios.items()}
    studies = load_studies(files["studies"], files["scenarios"], files["shipped"])
    if params.published:
        studies = studies.published(files["finished"] / "studies")
    tables = {name: Path(path) for name, path in params.tables.items()}
    claims = load_claims(files["claims"], files["scenarios"], files["shipped"])
    logs = scenarios_as_run(claims, files["scenarios"], files["shipped"])
    records = Records(scenarios, params.runs, studies, files["finished"], tables, logs)
    judged = evaluate(claims, records, scale)
    paths = [Path(path) for path in (output.json, output.table, output.text)]
    with replacing(*paths) as (as_json, as_table, as_text):
        as_json.write_text(page.to_json(judged, scale, params.code), encoding="utf-8")
        page.to_frame(judged, scale).to_csv(as_table, index=False)
        text = f"Runs at scale **{scale}**: {page.summary_line(judged)}.\n\n{page.to_markdown(judged)}"
        as_text.write_text(text, encoding="utf-8")
