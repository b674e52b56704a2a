"""Fail if what a study computed refutes what it checks."""

from common import logged

from pathlib import Path

from pausefl.registry import STUDIES
from pausefl.settings.studies import study_from_dict
from pausefl.studies.tables import read_tables

params = snakemake.params
with logged(snakemake.log[0]):
    record, study = STUDIES[params.kind], study_from_dict(params.kind, params.study)
    tables = read_tables(Path(params.folder), record.data_files(study))
    Path(snakemake.output[0]).write_text(record.load_verdict()(tables) + "\n", encoding="utf-8")
