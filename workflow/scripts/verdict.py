"""Fail if what a study computed refutes what it checks."""

from common import logged

from pathlib import Path

from pausefl.files import replacing
from pausefl.studies import study_of
from pausefl.studies.base import read_tables

params = snakemake.params
with logged(snakemake.log[0]):
    study = study_of(params.kind, params.study)
    verdict = study.verdict(read_tables(Path(params.folder), study.files(study.data)))
    with replacing(Path(snakemake.output[0])) as (staged,):
        staged.write_text(f"{verdict}\n", encoding="utf-8")
