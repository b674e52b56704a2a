"""Download the official files of a data source."""

from pausefl.workflow.step import logged

from pausefl.data.sources import download, located
from pausefl.settings import DataSettings

with logged(snakemake.log[0]):
    source = snakemake.params.source
    raw = located(DataSettings(source=source, n_validation=0), {}, snakemake.output)
    download(source, raw.root)
