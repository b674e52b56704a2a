"""Write the report: one page with claims, figures, tables and what they come from."""

from pausefl.reproduction.targets.step import logged

import os
from pathlib import Path

from pausefl.files import write_text
from pausefl.reproduction.report.page import render

with logged(snakemake.log[0]):
    out, docs = Path(snakemake.output[0]).resolve(), Path(snakemake.input.docs[0]).resolve().parent
    # If a storage has the results, these are copies in another folder.
    os.chdir(str(snakemake.input[0]).partition("results/")[0] or ".")
    write_text(out, render(snakemake.params.parts, docs, snakemake.threads))
