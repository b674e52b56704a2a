"""Write all runs of a scenario to three files."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.runs.collected import experiment_of, read_runs, write
from pausefl.runs.run import check_settings

with logged(snakemake.log[0]):
    folders = dict.fromkeys(Path(file).parent for file in snakemake.input)
    runs = read_runs({experiment_of(folder): folder for folder in folders}).values()
    check_settings(runs, snakemake.params.settings)
    write(runs, Path(snakemake.output[0]).parent)
