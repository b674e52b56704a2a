"""Plot a figure of a scenario, and write beside it what it was made from."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.figures.kinds import plot
from pausefl.figures.notes import notes_of, origin
from pausefl.figures.style import save
from pausefl.runs.collected import read_collected
from pausefl.runs.run import rounds_of
from pausefl.settings import FigureSettings, Scenario

shown = snakemake.params.shown
with logged(snakemake.log[0]):
    asked = FigureSettings.model_validate(snakemake.params.asked)
    scenario = Scenario.read(shown["scenario"], "scenario")
    runs = read_collected(Path(snakemake.input[0]).parent, shown["runs"])
    notes = notes_of(scenario, runs.values())
    plotted = plot(asked, rounds_of(runs.values()), scenario, notes.shown, snakemake.params.title)
    about = {"kind": asked.kind, "scenario": shown["scenario"], "notes": notes.all()}
    about |= origin(runs, shown["folder"])
    save(plotted.figure, Path(snakemake.output.png).with_suffix(""), about, plotted.numbers)
