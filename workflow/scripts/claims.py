"""Judge the papers' claims at one scale."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.files import replacing
from pausefl.reproduction.claims import formats
from pausefl.reproduction.claims.load import Claims
from pausefl.reproduction.claims.records import Records
from pausefl.reproduction.claims.verdicts import judge_claims

params, scale = snakemake.params, snakemake.wildcards.scale


def root_of(folder):
    """Where inputs below a folder are: under their names, or where Snakemake has copies from a storage."""
    file = next((file for file in map(str, snakemake.input) if f"{folder}/" in file), f"{folder}/")
    return Path(file.partition(f"{folder}/")[0], folder)


with logged(snakemake.log[0]):
    document = Claims.read({key: params.tested[key] for key in ("claims", "headlines")}, "claims")
    records = Records.of(params.tested, root_of(params.runs_folder), root_of(params.studies_folder))
    judged = judge_claims(document.claims, records, scale)
    with replacing(*map(Path, snakemake.output)) as (as_json, as_text):
        as_json.write_text(formats.to_json(judged, scale, params.code, document.headlines), encoding="utf-8")
        text = f"Runs at scale **{scale}**: {formats.summary_line(judged)}.\n\n{formats.to_markdown(judged)}"
        as_text.write_text(text, encoding="utf-8")
