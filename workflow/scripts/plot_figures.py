"""Plot the figures of a scenario, and write beside each what it was made from."""

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

output, params = snakemake.output, snakemake.params
with logged(snakemake.log[0]) as note:
    scenario = Scenario.read(params.scenario, "scenario")
    rounds = pd.read_parquet(snakemake.input.rounds)
    about = json.loads(Path(snakemake.input.about).read_text("utf-8"))
    notes = Notes(**about["notes"])
    metadata = about | {"scenario": params.scenario, "notes": notes.all()}
    failed = []
    for kind, png in zip(params.kinds, output.png, strict=True):
        try:
            plotted = plot(kind, rounds, scenario, notes.shown, params.title)
            save(plotted.figure, Path(png).with_suffix(""), metadata | {"kind": kind}, plotted.numbers)
        except Exception as error:
            note(f"{kind}: {error}" if isinstance(error, PauseflError) else traceback.format_exc())
            failed.append(kind)
    if failed:
        raise PauseflError(f"not plotted: {', '.join(failed)}; the reasons are above")
