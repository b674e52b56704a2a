"""Play all runs of a study of what annealing loses, or tabulate and draw them."""

from itertools import product
from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.optimality_gap import draw
from pausefl.figures.panels import save_played
from pausefl.settings import scenario_from_dict
from pausefl.studies.optimality_gap import run, summary

output, study = snakemake.output, snakemake.params.study
with logged(snakemake.log[0]) as note:
    if snakemake.rule == "gap":
        scenario, runs = scenario_from_dict(study["scenario"]), {}
        for key in product(scenario.selectors, study["seeds"]):
            note("{}, seed {}".format(*key))
            runs[key] = run(scenario, *key, study["n_rounds"])
        table = pd.concat(runs, names=["selector", "seed"]).reset_index(["selector", "seed"])
        table.to_csv(output[0], index=False)
    else:
        table = pd.read_csv(snakemake.input[0])
        summary(table).to_csv(output.summary, index=False)
        figure = draw(table, study["title"])
        save_played(figure, Path(output.png), study, snakemake.input, code_hash=snakemake.params.code)
