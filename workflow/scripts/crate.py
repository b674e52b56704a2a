"""Write an RO-Crate of the workflow and its results."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.report.crate import write_crate

with logged(snakemake.log[0]):
    results = [Path(path) for path in snakemake.input]
    parameters = snakemake.params
    write_crate(Path(snakemake.output[0]), Path(parameters.root), parameters.configuration, results)
