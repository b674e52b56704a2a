"""Write the report: one page with claims, figures, tables and what they come from."""

from common import logged

from pathlib import Path

from pausefl.report.page import render

with logged(snakemake.log[0]):
    Path(snakemake.output[0]).write_text(render(snakemake.params.parts), encoding="utf-8")
