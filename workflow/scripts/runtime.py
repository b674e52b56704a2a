"""Time the searches at every size, or draw and tabulate the times."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.searches import draw_costs
from pausefl.figures.style import LABELS, save
from pausefl.results.tables import to_html
from pausefl.settings import scenario_from_dict
from pausefl.settings.studies import Runtime
from pausefl.studies import runtime as costs

input, output, params = snakemake.input, snakemake.output, snakemake.params
with logged(snakemake.log[0]) as note:
    if snakemake.rule == "compute_runtime":
        study = Runtime(title="", **params.study | {"scenario": scenario_from_dict(params.study["scenario"])})
        memory = costs.memory(study)  # first: the process has not used much memory yet
        memory.to_csv(output.memory, index=False)
        costs.run(study, note).to_csv(output.times, index=False)
    else:
        times, memory = pd.read_csv(input.times), pd.read_csv(input.memory)
        facts = {"study": params.study, "data": list(input), "code_hash": params.code, "notes": []}
        save(draw_costs(times, params.title), Path(output.png).with_suffix(""), facts)
        fits = costs.fits(times)
        fits.to_csv(output.summary, index=False)
        text = costs.to_markdown(times, fits, memory, LABELS)
        Path(output.text).write_text(text, encoding="utf-8")
        Path(output.page).write_text(to_html(text, params.title), encoding="utf-8")
