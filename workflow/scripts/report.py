"""Write the report: one page with claims, figures, tables and what they come from."""

from pausefl.workflow.step import logged

import os
from dataclasses import replace
from pathlib import Path

from pausefl.files import write_text
from pausefl.report.page import render

with logged(snakemake.log[0]):
    out, ledger = (Path(file).resolve() for file in (snakemake.output[0], snakemake.input.ledger))
    # If a storage has the results, these are copies in another folder.
    os.chdir(str(snakemake.input[0]).partition("results/")[0] or ".")
    write_text(out, render(replace(snakemake.params.parts, ledger=str(ledger)), snakemake.threads))
