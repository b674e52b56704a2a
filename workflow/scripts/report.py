"""Write the report: one page with claims, figures, tables and what they come from."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.files import write_text
from pausefl.report.page import render
from pausefl.workflow.contents import located

with logged(snakemake.log[0]):
    params = snakemake.params
    parts = located(params.parts, params.names, snakemake.input)
    write_text(Path(snakemake.output[0]), render(parts))
