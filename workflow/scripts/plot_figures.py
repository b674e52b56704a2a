"""Plot the figures of scenarios, and write beside each what it was made from."""

from pausefl.workflow.step import logged

import json
import traceback
from pathlib import Path

import pandas as pd

from pausefl.errors import PauseflError
from pausefl.figures.kinds import plot
from pausefl.figures.notes import Notes
from pausefl.figures.style import save
from pausefl.settings import Scenario

tables, params = snakemake.input, snakemake.params
with logged(snakemake.log[0]) as note:
    failed = []
    pngs = iter(snakemake.output.png)
    for settings, rounds_file, about_file in zip(params.scenarios, tables.rounds, tables.about, strict=True):
        scenario = Scenario.read(settings, "scenario")
        rounds = pd.read_parquet(rounds_file)
        about = json.loads(Path(about_file).read_text("utf-8"))
        notes = Notes(**about["notes"])
        metadata = about | {"scenario": settings, "notes": notes.all()}
        for kind in params.kinds:
            stem = Path(next(pngs)).with_suffix("")
            try:
                plotted = plot(kind, rounds, scenario, notes.shown, params.title)
                save(plotted.figure, stem, metadata | {"kind": kind}, plotted.numbers)
            except Exception as error:
                reason = str(error) if isinstance(error, PauseflError) else traceback.format_exc()
                note(f"{kind} of {scenario.name}: {reason}")
                failed.append(f"{kind} of {scenario.name}")
    if failed:
        raise PauseflError(f"not plotted: {', '.join(failed)}; the reasons are above")
