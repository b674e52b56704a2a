"""Download the official files of a data source."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.data.raw_data import download

with logged(snakemake.log[0]):
    download(snakemake.params.source, Path(snakemake.output[0]).parent)
