"""Read raw data and save them as arrays."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.data.sources import prepare

with logged(snakemake.log[0]):
    prepare(snakemake.params.settings, snakemake.params.raw).save(Path(snakemake.output[0]))
