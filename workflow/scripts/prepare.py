"""Read raw data and save them as arrays."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.data.raw_data import prepare
from pausefl.settings import RawData

params = snakemake.params
with logged(snakemake.log[0]):
    raw = RawData(Path(params.root), download=False, folders=params.folders)
    prepare(params.settings, raw).save(Path(snakemake.output[0]))
