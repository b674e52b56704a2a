"""Tabulate what the users of a scenario have spent."""

from common import logged

import json
from pathlib import Path

from pausefl.figures.notes import run_notes, scale_note, with_notes
from pausefl.figures.style import LABELS
from pausefl.results.privacy_table import privacy_table, to_markdown
from pausefl.settings import scenario_from_dict

output = snakemake.output
with logged(snakemake.log[0]):
    scenario = scenario_from_dict(snakemake.params.scenario)
    runs = {row: Path(folder) for row, folder in snakemake.params.runs.items()}
    table = privacy_table(runs, scenario.privacy)
    table.to_csv(output.table, index=False)
    summaries = [json.loads((folder / "summary.json").read_text("utf-8")) for folder in runs.values()]
    notes = run_notes(summaries, snakemake.params.versions, LABELS)
    text = with_notes(to_markdown(table, LABELS), [scale_note(scenario), *notes.all()])
    Path(output.text).write_text(text, encoding="utf-8")
