"""List the graphs that annealing walks on, or draw and tabulate them."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.searches import draw_graphs
from pausefl.figures.style import LABELS, save
from pausefl.results.tables import to_html
from pausefl.settings.studies import Graphs
from pausefl.studies import graphs

input, output, params = snakemake.input, snakemake.output, snakemake.params
with logged(snakemake.log[0]):
    study = Graphs(title=params.get("title", ""), **params.study)
    if snakemake.rule == "compute_graphs":
        graphs.run(study).to_csv(output.degrees, index=False)
        vertices, edges = graphs.first(study)
        vertices.to_csv(output.vertices, index=False)
        edges.to_csv(output.edges, index=False)
    else:
        facts = {"study": params.study, "data": list(input), "code_hash": params.code, "notes": []}
        figure = draw_graphs(pd.read_csv(input.vertices), pd.read_csv(input.edges), study.title)
        save(figure, Path(output.png).with_suffix(""), facts)
        summary = graphs.summarise(pd.read_csv(input.degrees), study.n_users, study.n_selected)
        summary.to_csv(output.summary, index=False)
        text = graphs.to_markdown(summary, study.n_users, study.n_selected, LABELS)
        Path(output.text).write_text(text, encoding="utf-8")
        Path(output.page).write_text(to_html(text, study.title), encoding="utf-8")
