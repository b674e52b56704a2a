"""Plot a figure of a scenario, and write beside it what it was made from."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.analysis.figures.kinds import FigureSettings, plot
from pausefl.analysis.figures.notes import notes_of, origin
from pausefl.analysis.figures.style import save
from pausefl.reproduction.figures.authors import of_authors
from pausefl.runs.collected import read_collected
from pausefl.runs.run import rounds_of
from pausefl.settings import Scenario

shown = snakemake.params.shown
with logged(snakemake.log[0]):
    asked = FigureSettings.model_validate(snakemake.params.asked)
    scenario = Scenario.read(shown["scenario"], "scenario")
    runs = read_collected(Path(snakemake.input[0]).parent, shown["runs"])
    notes = notes_of(scenario, runs.values())
    plotted = plot(asked, rounds_of(runs.values()), scenario, notes.shown, snakemake.params.title, of_authors)
    about = {"kind": asked.kind, "scenario": shown["scenario"], "notes": notes.all()}
    about |= origin(runs, shown["folder"])
    save(plotted.figure, Path(snakemake.output.png).with_suffix(""), about, plotted.numbers)
