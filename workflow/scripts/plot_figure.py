"""Plot one figure of a scenario, and write beside it what it was made from."""

import json
from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.kinds import plot
from pausefl.figures.notes import run_notes
from pausefl.figures.style import LABELS, save
from pausefl.settings import scenario_from_dict

with logged(snakemake.log[0]):
    scenario = scenario_from_dict(snakemake.params.scenario)
    kind = snakemake.wildcards.kind
    summaries = {path: json.loads(Path(path).read_text("utf-8")) for path in snakemake.input.summaries}
    notes = run_notes(summaries.values(), snakemake.params.versions, LABELS)
    figure = plot(kind, pd.read_parquet(snakemake.input.rounds), scenario, notes.shown)
    metadata = {
        "kind": kind,
        "runs": [str(Path(path).parent) for path in summaries],
        "seeds": sorted({summary["seed"] for summary in summaries.values()}),
        "code_hashes": sorted({summary["code_hash"] for summary in summaries.values()}),
        "dataset_origins": sorted({summary["dataset_origin"] for summary in summaries.values()}),
        "scenario": snakemake.params.scenario,
        "notes": notes.all(),
    }
    save(figure, Path(snakemake.output.png).with_suffix(""), metadata)
