"""Read raw data and save them as arrays."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.data.sources import located, prepare

with logged(snakemake.log[0]):
    settings = snakemake.params.settings
    raw = located(settings, snakemake.params.folders, snakemake.input)
    prepare(settings, raw).save(Path(snakemake.output[0]))
