"""Fail if what a study computed refutes what it checks."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.files import write_text
from pausefl.studies import study_of
from pausefl.studies.base import read_tables
from pausefl.workflow.copies import study_folder

params = snakemake.params
with logged(snakemake.log[0]):
    study = study_of(params.kind, params.study)
    files = study.files(study.data)
    verdict = study.verdict(read_tables(study_folder(snakemake.input.data[0], files[0]), files))
    write_text(Path(snakemake.output[0]), f"{verdict}\n")
