"""Audit the noise, draw and tabulate the audit, or fail where it refutes a claim."""

from pathlib import Path

import pandas as pd

from common import logged
from pausefl.figures.audit import draw
from pausefl.figures.style import save
from pausefl.results.tables import to_html
from pausefl.settings.studies import Audit
from pausefl.studies import audit

input, output, params = snakemake.input, snakemake.output, snakemake.params
with logged(snakemake.log[0]) as note:
    if snakemake.rule == "audit":
        audit.run(Audit(title="", **params.study), note).to_csv(output[0], index=False)
    elif snakemake.rule == "draw_audit":
        table = pd.read_csv(input[0])
        facts = {"study": params.study, "data": list(input), "code_hash": params.code, "notes": []}
        figure = draw(table, params.title)
        save(figure, Path(output.png).with_suffix(""), facts)
        text = audit.to_markdown(table)
        Path(output.text).write_text(text, encoding="utf-8")
        Path(output.page).write_text(to_html(text, params.title), encoding="utf-8")
    else:
        table = pd.read_csv(input.table)
        audit.check(table)
        Path(output[0]).write_text(f"None of {len(table)} claims is refuted.\n", encoding="utf-8")
