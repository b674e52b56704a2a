"""Publish the files of a run, or one of a study."""

from common import logged

from pathlib import Path

from pausefl.results.published import publish

with logged(snakemake.log[0]):
    for source, target in zip(snakemake.input, snakemake.output, strict=True):
        publish(Path(source), Path(target))
