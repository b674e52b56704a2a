"""Judge the papers' claims at one scale."""

from pathlib import Path

from common import logged
from pausefl.claims import page
from pausefl.claims.records import Records
from pausefl.claims.verdicts import evaluate
from pausefl.results.published import those_published
from pausefl.results.tables import to_html
from pausefl.settings import scenario_from_dict
from pausefl.settings.claims import load_claims
from pausefl.settings.studies import load_studies

output, params, scale = snakemake.output, snakemake.params, snakemake.wildcards.scale
with logged(snakemake.log[0]):
    folder = Path(snakemake.config["scenarios"])
    claims = load_claims(Path("config/claims.yaml"), folder)
    scenarios = {
        name: scenario_from_dict({**settings, "title": name, "selectors": ["pause"], "figures": {}})
        for name, settings in params.scenarios.items()
    }
    file = snakemake.config["studies"]
    studies = load_studies(None if file is None else Path(file), folder)
    if snakemake.config.get("runs") == "published":
        studies = those_published(studies, Path(params.finished) / "studies")
    records = Records(scenarios, params.runs, studies, Path(params.finished))
    judged = evaluate(claims, records, scale)
    Path(output.json).write_text(page.to_json(judged, scale, params.code), encoding="utf-8")
    page.to_frame(judged, scale).to_csv(output.table, index=False)
    text = page.to_markdown(judged, scale)
    Path(output.text).write_text(text, encoding="utf-8")
    title = f"The papers' claims, judged on runs at scale {scale}"
    Path(output.page).write_text(to_html(page.STYLE + text, title), encoding="utf-8")
