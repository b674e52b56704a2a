"""Read a raw data set, downloading it if need be, and save it as arrays."""

from pathlib import Path

from common import logged
from pausefl.data.sources import fetch, prepare

with logged(snakemake.log[0]):
    fetch(snakemake.params.settings, snakemake.params.raw)
    prepare(snakemake.params.settings, snakemake.params.raw).save(Path(snakemake.output[0]))
