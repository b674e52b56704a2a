"""Tabulate all runs of a scenario: every round, one line for each run, one line for each selector."""

from common import logged

from pathlib import Path

import pandas as pd

from pausefl.figures.notes import run_notes, with_notes
from pausefl.figures.style import LABELS, style_of
from pausefl.results.runs import check_settings, collect, read_summaries
from pausefl.results.tables import across_seeds, summarise, to_markdown

output = snakemake.output
with logged(snakemake.log[0]):
    runs = {row: Path(folder) for row, folder in snakemake.params.runs.items()}
    rounds = collect(runs)
    summaries = read_summaries(runs)
    check_settings(summaries, snakemake.params.settings)
    summary = summarise(rounds, summaries)
    across: pd.DataFrame = across_seeds(summary)
    rounds.to_parquet(output.rounds, index=False)
    summary.to_csv(output.runs, index=False)
    across.to_csv(output.summary, index=False)
    labels = {selector: style_of(selector).label for selector in across["selector"]}
    origins = sorted({run["dataset_origin"] for run in summaries.values()})
    notes = run_notes(summaries.values(), snakemake.params.versions, LABELS)
    table = f"{to_markdown(across, labels, snakemake.params.protected)}\nData: {'; '.join(origins)}.\n"
    text = with_notes(table, [snakemake.params.scale, *notes.all()])
    Path(output.text).write_text(text, encoding="utf-8")
