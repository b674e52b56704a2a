"""Download the official files of a data source."""

from common import logged

from pausefl.data.sources import download

with logged(snakemake.log[0]):
    download(snakemake.params.source, snakemake.params.root)
