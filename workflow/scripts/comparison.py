"""Race two annealers on many instances, or draw and tabulate the races."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.searches import draw_races
from pausefl.figures.style import LABELS, save
from pausefl.results.tables import to_html
from pausefl.settings import scenario_from_dict
from pausefl.settings.studies import Comparison
from pausefl.studies import comparison as races

input, output, params = snakemake.input, snakemake.output, snakemake.params
with logged(snakemake.log[0]) as note:
    if snakemake.rule == "compute_comparison":
        scenario = scenario_from_dict(params.study["scenario"])
        runs, curves = races.run(Comparison(title="", **params.study | {"scenario": scenario}), note)
        runs.to_parquet(output.runs, index=False)
        curves.to_csv(output.curves, index=False)
    else:
        facts = {"study": params.study, "data": list(input), "code_hash": params.code, "notes": []}
        figure = draw_races(pd.read_csv(input.curves), params.title)
        save(figure, Path(output.png).with_suffix(""), facts)
        shares = races.shares(pd.read_parquet(input.runs))
        shares.to_csv(output.summary, index=False)
        text = races.to_markdown(shares, LABELS)
        Path(output.text).write_text(text, encoding="utf-8")
        Path(output.page).write_text(to_html(text, params.title), encoding="utf-8")
