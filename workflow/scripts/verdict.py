"""Judge what a study checks; fail if its tables refute it."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.studies.audit import verdict

with logged(snakemake.log[0]):
    line = verdict({"audit": pd.read_csv(snakemake.input.table)})
    Path(snakemake.output[0]).write_text(f"{line}\n", encoding="utf-8")
