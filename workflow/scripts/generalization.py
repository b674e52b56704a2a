"""Tabulate and draw the generalisation reward against the share of rounds."""

from pathlib import Path

from common import logged
from pausefl.figures.generalization import draw
from pausefl.figures.style import save
from pausefl.settings.studies import Generalization
from pausefl.studies.generalization import run

output, params = snakemake.output, snakemake.params
with logged(snakemake.log[0]):
    study = Generalization(title=params.title, **params.study)
    table = run(study)
    table.to_csv(output.table, index=False)
    facts = {"study": params.study, "data": [output.table], "code_hash": params.code, "notes": []}
    figure = draw(table, study.n_selected / study.n_users, study.title)
    save(figure, Path(output.png).with_suffix(""), facts)
