"""Plot a study, and write its tables for people."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.figures.style import add_notes, save
from pausefl.files import new_folder
from pausefl.studies import study_of
from pausefl.studies.base import plot_titled, read_tables, write_tables

params = snakemake.params
with logged(snakemake.log[0]), new_folder(Path(snakemake.output.tables)) as folder:
    study = study_of(params.kind, params.settings, params.title)
    plotted = plot_titled(study, read_tables(Path(snakemake.input[0])))
    add_notes(plotted.figure, study.notes())
    about = {"study": params.settings, "data": params.data, "notes": study.notes()}
    save(plotted.figure, Path(snakemake.output.png).with_suffix(""), about)
    write_tables(plotted.tables, folder)
    if plotted.markdown is not None:
        (folder / "summary.md").write_text(plotted.markdown, encoding="utf-8")
