"""Play the jobs of a scenario without training, or tabulate and draw what they leaked."""

from itertools import product
from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.captions import protected
from pausefl.figures.panels import save_played
from pausefl.figures.selection import draw
from pausefl.figures.style import LABELS
from pausefl.results.tables import to_html
from pausefl.settings import scenario_from_dict
from pausefl.studies.selection import run, summary, to_markdown

output, study = snakemake.output, snakemake.params.study
with logged(snakemake.log[0]) as note:
    scenario = scenario_from_dict(study["scenario"])
    if snakemake.rule == "selection":
        runs = []
        for key in product(scenario.selectors, study["seeds"]):
            note("{}, seed {}".format(*key))
            runs.append(run(scenario, *key))
        pd.concat(runs, ignore_index=True).to_parquet(output[0], index=False)
    else:
        rounds = pd.read_parquet(snakemake.input[0])
        table = summary(rounds)
        table.to_csv(output.summary, index=False)
        text = to_markdown(table, LABELS, protected(scenario))
        Path(output.text).write_text(text, encoding="utf-8")
        Path(output.page).write_text(to_html(text, study["title"]), encoding="utf-8")
        figure = draw(rounds, scenario, study["title"])
        save_played(figure, Path(output.png), study, snakemake.input, code_hash=snakemake.params.code)
