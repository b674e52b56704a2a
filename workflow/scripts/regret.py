"""Put all runs of a regret study into one table, fit laws of growth to them, and draw both."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.notes import seed_notes
from pausefl.figures.regret import draw
from pausefl.figures.style import add_notes, save
from pausefl.studies.growth import fits, growth

output, study = snakemake.output, snakemake.params.study
with logged(snakemake.log[0]):
    runs = pd.concat([pd.read_parquet(path) for path in snakemake.input], ignore_index=True)
    laws = fits(runs)
    runs.to_csv(output.runs, index=False)
    laws.to_csv(output.fits, index=False)
    growth(runs).to_csv(output.growth, index=False)
    notes = seed_notes(study["seeds"])
    figure = draw(runs, laws, study["title"])
    add_notes(figure, notes)
    facts = {"study": study, "data": list(snakemake.input), "code_hashes": snakemake.params.versions}
    save(figure, Path(output.png).with_suffix(""), facts | {"notes": notes})
