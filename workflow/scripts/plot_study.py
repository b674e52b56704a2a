"""Plot a study, and write its derived tables."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.analysis.figures.notes import seed_notes
from pausefl.analysis.figures.style import add_notes, add_title, save, theme
from pausefl.files import new_folder
from pausefl.reproduction.studies import study_of
from pausefl.reproduction.studies.base import read_tables, seeds_of

params = snakemake.params
with logged(snakemake.log[0]), new_folder(Path(snakemake.output.tables)) as folder:
    study = study_of(params.kind, params.settings)
    with theme():
        computed = read_tables(Path(snakemake.input[0]))
        plotted = study.plot(computed)
        if params.title:
            add_title(plotted.figure, params.title)
    notes = seed_notes(seeds_of(study))
    add_notes(plotted.figure, notes)
    about = {"study": params.settings, "data": params.data, "notes": notes}
    save(plotted.figure, Path(snakemake.output.png).with_suffix(""), about)
    study.write(computed, plotted, folder)
