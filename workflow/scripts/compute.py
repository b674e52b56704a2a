"""Compute the tables of a study, or of one of its runs."""

from pausefl.workflow.step import logged

from pausefl.studies import study_of
from pausefl.studies.base import write_tables
from pausefl.workflow.copies import run_folders, study_folder

params = snakemake.params
with logged(snakemake.log[0]) as note:
    study = study_of(params.kind, params.study)
    files = study.files(study.data)
    folder = study_folder(snakemake.output[0], files[0])
    folders = [run_folders(snakemake.input, params.runs)] if study.trained else []
    write_tables(study.compute(note, *folders), folder, files)
