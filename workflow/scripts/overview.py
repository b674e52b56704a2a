"""Plot the papers' figures of accuracy at a glance, and write the curves of the report."""

from pausefl.reproduction.targets.step import logged

import json
from pathlib import Path

from pausefl.analysis.figures.notes import origin
from pausefl.analysis.figures.style import save
from pausefl.files import write_text
from pausefl.reproduction.figures import overview
from pausefl.reproduction.report.charts import charts
from pausefl.runs.collected import read_scenarios
from pausefl.runs.run import rounds_of

output, shown = snakemake.output, snakemake.params.shown
with logged(snakemake.log[0]):
    runs = read_scenarios(snakemake.input, [one["runs"] for one in shown])
    rounds = {name: rounds_of(own.values()) for name, own in runs.items()}
    names = overview.scenarios(rounds)
    about = origin({key: run for name in names for key, run in runs[name].items()}, shown[0]["folder"])
    figure = overview.plot({name: rounds[name] for name in names})
    save(figure, Path(output.png).with_suffix(""), about | {"scenarios": names, "notes": []})
    write_text(Path(output.charts), json.dumps(charts(rounds), separators=(",", ":")))
