"""Compute the tables of a study."""

from pathlib import Path

from common import logged
from pausefl.registry import STUDIES
from pausefl.settings.studies import study_from_dict
from pausefl.studies.tables import write_tables

params = snakemake.params
with logged(snakemake.log[0]) as note:
    study = study_from_dict(params.kind, params.study)
    tables = STUDIES[params.kind].load()(study, note)
    write_tables(tables, Path(params.folder), STUDIES[params.kind].data_files(study))
