"""Put all runs of a regret study into one table, fit laws of growth to them, and draw both."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.panels import save_played
from pausefl.figures.regret import draw
from pausefl.studies.growth import fits, growth

output, study = snakemake.output, snakemake.params.study
with logged(snakemake.log[0]):
    runs = pd.concat([pd.read_parquet(path) for path in snakemake.input], ignore_index=True)
    laws = fits(runs)
    runs.to_csv(output.runs, index=False)
    laws.to_csv(output.fits, index=False)
    growth(runs).to_csv(output.growth, index=False)
    figure = draw(runs, laws, study["title"])
    save_played(figure, Path(output.png), study, snakemake.input, code_hashes=snakemake.params.versions)
