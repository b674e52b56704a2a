"""Write the numbers of the published runs that pages name."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

import pandas as pd

from pausefl.files import write_text
from pausefl.reproduction.pages.numbers import evaluate
from pausefl.reproduction.pages.published import Published

with logged(snakemake.log[0]):
    values = evaluate(Published(Path(snakemake.params.root)), Path(snakemake.input.names))
    table = pd.DataFrame(values.items(), columns=["name", "value"])
    write_text(Path(snakemake.output[0]), table.to_csv(index=False))
