"""Write the tables of a scenario."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.figures.notes import notes_of, scale_note
from pausefl.files import new_folder
from pausefl.results.table_files import write_tables
from pausefl.runs.collected import read_collected
from pausefl.runs.run import check_settings
from pausefl.settings import Scenario

shown = snakemake.params.shown
with logged(snakemake.log[0]), new_folder(Path(snakemake.output[0])) as folder:
    scenario = Scenario.read(shown["scenario"], "scenario")
    runs = read_collected(Path(snakemake.input[0]).parent, shown["runs"])
    check_settings(runs.values(), scenario.job_settings())
    notes = notes_of(scenario, runs.values())
    write_tables(snakemake.params.kinds, scenario, runs, [scale_note(scenario), *notes.all()], folder)
