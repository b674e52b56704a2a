"""Plot the papers' figures of accuracy at a glance, and answer the questions that a reader asks first."""

from pausefl.reproduction.targets.step import logged

import json
from pathlib import Path

from pausefl.analysis.figures.notes import origin
from pausefl.analysis.figures.style import save
from pausefl.files import replacing
from pausefl.reproduction.figures import overview
from pausefl.reproduction.report import questions
from pausefl.reproduction.report.charts import charts
from pausefl.runs.collected import read_scenarios
from pausefl.runs.reading import read_table
from pausefl.runs.run import rounds_of

output, shown = snakemake.output, snakemake.params.shown
with logged(snakemake.log[0]):
    runs = read_scenarios(snakemake.input, [one["runs"] for one in shown])
    rounds = {name: rounds_of(own.values()) for name, own in runs.items()}
    names = overview.scenarios(rounds)
    about = origin({key: run for name in names for key, run in runs[name].items()}, shown[0]["folder"])
    figure = overview.plot({name: rounds[name] for name in names})
    save(figure, Path(output.png).with_suffix(""), about | {"scenarios": names, "notes": []})
    curves = {one.name: read_table(one / questions.CURVES) for one in map(Path, snakemake.input.curves)}
    logs = questions.logs(snakemake.params.logged)
    answers = questions.answers(rounds, curves, logs)
    paths = Path(output.text).with_suffix(".csv"), Path(output.text), Path(output.charts)
    with replacing(*paths) as (to_csv, to_text, to_charts):
        answers.to_csv(to_csv, index=False)
        to_text.write_text(questions.to_markdown(answers), encoding="utf-8")
        to_charts.write_text(json.dumps(charts(rounds), separators=(",", ":")), encoding="utf-8")
