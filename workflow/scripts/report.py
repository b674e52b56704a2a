"""Write the report: one page with claims, figures, tables and what they come from."""

from common import logged

from pathlib import Path

from pausefl.files import replacing
from pausefl.report.page import render

with logged(snakemake.log[0]):
    page = render(snakemake.params.parts)
    with replacing(Path(snakemake.output[0])) as (staged,):
        staged.write_text(page, encoding="utf-8")
