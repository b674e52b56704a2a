"""Plot the papers' figures of accuracy at a glance, and answer the questions that a reader asks first."""

from pausefl.workflow.step import logged

import json
from pathlib import Path

from pausefl.figures import overview
from pausefl.figures.style import save
from pausefl.files import replacing
from pausefl.report import questions
from pausefl.results.archive import logged_rounds
from pausefl.results.published import read_study
from pausefl.results.reading import read_table
from pausefl.settings import Scenario

output = snakemake.output
with logged(snakemake.log[0]):
    rounds = {Path(path).parent.name: read_table(Path(path)) for path in snakemake.input.rounds}
    files = [Path(path) for path in snakemake.input.get("curves", [])]
    curves = read_study(files[0].parent, files[0].name) if files else None
    shown = overview.scenarios(rounds)
    about = [json.loads(Path(path).read_text("utf-8")) for path in snakemake.input.about]
    metadata = {
        key: sorted({one for each in about for one in each[key]})
        for key in ("runs", "seeds", "dataset_origins")
    }
    figure = overview.plot({name: rounds[name] for name in shown})
    save(figure, Path(output.png).with_suffix(""), metadata | {"scenarios": shown, "notes": []})
    logged = snakemake.params.logged.items()
    logs = {name: logged_rounds(Scenario.read(settings, "scenario")) for name, settings in logged}
    answers = questions.answers(rounds, curves, logs)
    with replacing(Path(output.csv), Path(output.text)) as (to_csv, to_text):
        answers.to_csv(to_csv, index=False)
        to_text.write_text(questions.to_markdown(answers), encoding="utf-8")
