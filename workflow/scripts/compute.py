"""Compute the tables of a study, or of one of its runs."""

from common import logged

from pathlib import Path

from pausefl.files import replacing
from pausefl.registry import STUDIES
from pausefl.settings.studies import study_from_dict
from pausefl.studies.tables import write_tables

params = snakemake.params
with logged(snakemake.log[0]) as note:
    record, study = STUDIES[params.kind], study_from_dict(params.kind, params.study)
    given = [{run: Path(folder) for run, folder in params.runs.items()}] if record.trained else []
    write_tables(record.load()(study, note, *given), Path(params.folder), record.data_files(study))
    (file,) = record.code_files(study)
    with replacing(Path(params.folder, file)) as (staged,):
        staged.write_text(f"{params.code}\n", encoding="utf-8")
