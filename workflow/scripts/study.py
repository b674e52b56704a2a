"""Compute the tables of a study, and those that claims are tested on."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.files import new_folder
from pausefl.runs.collected import experiment_of
from pausefl.studies import study_of
from pausefl.studies.base import write_tables

if __name__ == "__main__":  # what computes in several processes has this file read by each
    with logged(snakemake.log[0]) as note, new_folder(Path(snakemake.output[0])) as folder:
        study = study_of(snakemake.params.kind, snakemake.params.settings)
        arguments = {"n_processes": snakemake.threads} if study.parallel else {}
        if study.trained:
            folders = dict.fromkeys(Path(file).parent for file in snakemake.input)
            arguments["folders"] = {experiment_of(one): one for one in folders}
        tables = study.compute(note, **arguments)
        write_tables(tables, folder)
        if set(study.claims) - set(tables):
            derived = study.plot(tables).tables
            write_tables({file: table for file, table in derived.items() if file in study.claims}, folder)
