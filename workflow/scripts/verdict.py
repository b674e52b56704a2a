"""Fail if what a study computed refutes what it checks."""

from common import logged

from pathlib import Path

from pausefl.files import replacing
from pausefl.registry import STUDIES
from pausefl.settings.studies import study_from_dict
from pausefl.studies.tables import read_tables

params = snakemake.params
with logged(snakemake.log[0]):
    record, study = STUDIES[params.kind], study_from_dict(params.kind, params.study)
    tables = read_tables(Path(params.folder), record.data_files(study))
    verdict = record.load_verdict()(tables)
    with replacing(Path(snakemake.output[0])) as (staged,):
        staged.write_text(f"{verdict}\n", encoding="utf-8")
