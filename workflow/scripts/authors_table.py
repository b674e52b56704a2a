"""Set the authors' archived runs beside ours."""

from common import logged

from pathlib import Path

import pandas as pd

from pausefl.figures.style import LABELS
from pausefl.results.archive import beside_ours, to_markdown
from pausefl.settings import scenario_from_dict

output = snakemake.output
with logged(snakemake.log[0]):
    rounds = pd.read_parquet(snakemake.input[0])
    table = beside_ours(rounds, scenario_from_dict(snakemake.params.scenario))
    table.to_csv(output.table, index=False)
    Path(output.text).write_text(to_markdown(table, LABELS), encoding="utf-8")
