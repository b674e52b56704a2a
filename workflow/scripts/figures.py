"""Plot the figures of a scenario, and write beside each what it was made from."""

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
    scenario = Scenario.read(shown["scenario"], "scenario")
    runs = read_collected(Path(snakemake.input[0]).parent, shown["runs"])
    notes, rounds = notes_of(scenario, runs.values()), rounds_of(runs.values())
    about = {"scenario": shown["scenario"], "notes": notes.all()} | origin(runs, shown["folder"])
    for settings, picture in zip(snakemake.params.asked, snakemake.output.png, strict=True):
        asked = FigureSettings.model_validate(settings)
        plotted = plot(asked, rounds, scenario, notes.shown, snakemake.params.title, of_authors)
        about_figure = {"kind": asked.kind} | about
        save(plotted.figure, Path(picture).with_suffix(""), about_figure, plotted.numbers)
