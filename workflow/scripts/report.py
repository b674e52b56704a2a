"""Write the report: one page with claims, figures, tables and what they come from."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.files import write_text
from pausefl.report.page import render

with logged(snakemake.log[0]):
    write_text(Path(snakemake.output[0]), render(snakemake.params.parts))
