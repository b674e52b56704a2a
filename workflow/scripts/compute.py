"""Compute the tables of a study, or of one of its runs."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.files import replacing
from pausefl.studies import study_of
from pausefl.studies.base import write_tables

params = snakemake.params
with logged(snakemake.log[0]) as note:
    study = study_of(params.kind, params.study)
    folders = [{run: Path(folder) for run, folder in params.runs.items()}] if study.trained else []
    write_tables(study.compute(note, *folders), Path(params.folder), study.files(study.data))
    (file,) = study.code_files()
    with replacing(Path(params.folder, file)) as (staged,):
        staged.write_text(f"{params.code}\n", encoding="utf-8")
