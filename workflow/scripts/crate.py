"""Write an RO-Crate of the workflow and its results."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.report.crate import write_crate

with logged(snakemake.log[0]):
    parameters = snakemake.params
    results = dict(zip(parameters.names, map(Path, snakemake.input), strict=True))
    write_crate(Path(snakemake.output[0]), Path(parameters.root), parameters.configuration, results)
