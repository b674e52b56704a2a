"""Write the tables of a scenario."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.analysis.figures.notes import notes_of, scale_note
from pausefl.analysis.table_files import write_table, write_tables
from pausefl.files import new_folder
from pausefl.reproduction import authors_archive
from pausefl.runs.collected import read_collected
from pausefl.runs.run import check_settings, rounds_of
from pausefl.selectors import LABELS
from pausefl.settings import Scenario

shown = snakemake.params.shown
with logged(snakemake.log[0]), new_folder(Path(snakemake.output[0])) as folder:
    scenario = Scenario.read(shown["scenario"], "scenario")
    runs = read_collected(Path(snakemake.input[0]).parent, shown["runs"])
    check_settings(runs.values(), scenario.job_settings())
    notes = notes_of(scenario, runs.values())
    ours = [kind for kind in snakemake.params.kinds if kind != "authors"]
    write_tables(ours, scenario, runs, [scale_note(scenario), *notes.all()], folder)
    if "authors" in snakemake.params.kinds:
        table = authors_archive.beside_ours(rounds_of(runs.values()), scenario)
        write_table(table, authors_archive.to_markdown(table, LABELS), folder / "authors")
