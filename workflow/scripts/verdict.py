"""Write what a study that checks something found; its `verdict` raises an error if that is refuted."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.files import write_text
from pausefl.reproduction.studies import study_of
from pausefl.reproduction.studies.base import read_tables

with logged(snakemake.log[0]):
    study = study_of(snakemake.params.kind, snakemake.params.settings)
    verdict = study.verdict(read_tables(Path(snakemake.input[0])))
    write_text(Path(snakemake.output[0]), f"{verdict}\n")
