"""Compute the tables of a study."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.files import new_folder
from pausefl.reproduction.studies import study_of
from pausefl.reproduction.studies.base import write_tables
from pausefl.runs.collected import experiment_of

with logged(snakemake.log[0]) as note, new_folder(Path(snakemake.output[0])) as folder:
    study = study_of(snakemake.params.kind, snakemake.params.settings)
    folders = dict.fromkeys(Path(file).parent for file in snakemake.input)
    runs = [{experiment_of(one): one for one in folders}] if study.trained else []
    write_tables(study.compute(note, *runs), folder)
