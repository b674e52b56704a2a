"""Tabulate all runs of scenarios: every round, one line for each run, and their tables for people."""

from pausefl.workflow.step import logged

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from pausefl.errors import PauseflError
from pausefl.figures.notes import absent_note, run_notes, scale_note, with_notes
from pausefl.files import replacing
from pausefl.registry.figures import protected
from pausefl.registry.selectors import LABELS
from pausefl.results import archive, privacy_table, tables
from pausefl.results.markdown import to_latex
from pausefl.results.outcomes import TARGET
from pausefl.results.runs import check_settings, read_runs
from pausefl.settings import Experiment, Scenario
from pausefl.workflow.copies import run_folders

output, params = snakemake.output, snakemake.params


def tabulate(scenario: Scenario, runs: Mapping[Experiment, str], folder: Path) -> None:
    """Write the tables of a scenario; its runs have the names that the workflow has for them."""
    read = run_folders(snakemake.input, runs)
    rounds, summaries = read_runs(read)
    check_settings(summaries, scenario.job_settings())
    by_run = tables.summarise(rounds, summaries)
    rounds.attrs[TARGET] = float(by_run["target_accuracy"].iloc[0])  # to_parquet keeps it
    warnings = run_notes(summaries.values())
    warnings.shown.extend(filter(None, [absent_note(scenario, set(by_run["selector"]))]))
    about: dict[str, Any] = {
        "runs": list(runs.values()),
        "seeds": sorted({run["seed"] for run in summaries.values()}),
        "versions": {
            name: sorted({run["versions"][name] for run in summaries.values()})
            for name in next(iter(summaries.values()))["versions"]
        },
        "dataset_origins": sorted({run["dataset_origin"] for run in summaries.values()}),
        "notes": asdict(warnings),
    }
    notes = [scale_note(scenario), *warnings.all()]

    def summary() -> tuple[pd.DataFrame, str]:
        """One line for each selector."""
        table = tables.by_selector(by_run)
        text = tables.to_markdown(table, LABELS, protected(scenario))
        return table, with_notes(f"{text}\nData: {'; '.join(about['dataset_origins'])}.\n", notes)

    def privacy() -> tuple[pd.DataFrame, str]:
        """What users have spent."""
        table = privacy_table.privacy_table(read, scenario.privacy)
        return table, with_notes(privacy_table.to_markdown(table, LABELS), notes)

    def authors() -> tuple[pd.DataFrame, str]:
        """The authors' archived runs beside ours."""
        table = archive.beside_ours(rounds, scenario)
        return table, archive.to_markdown(table, LABELS)

    make = {"summary": summary, "privacy": privacy, "authors": authors}
    made = [make[kind]() for kind in params.kinds]
    paths = [folder / f"{kind}.{ending}" for kind in params.kinds for ending in ("csv", "md", "tex")]
    own = (folder / name for name in ("rounds.parquet", "runs.csv", "about.json"))
    with replacing(*own, *paths) as (to_rounds, to_runs, to_about, *to_kinds):
        rounds.to_parquet(to_rounds, index=False)
        by_run.to_csv(to_runs, index=False)
        to_about.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        to_each = zip(to_kinds[::3], to_kinds[1::3], to_kinds[2::3], strict=True)
        for (table, text), (csv, page, latex) in zip(made, to_each, strict=True):
            table.to_csv(csv, index=False)
            page.write_text(text, encoding="utf-8")
            latex.write_text(to_latex(text), encoding="utf-8")


with logged(snakemake.log[0]):
    failed = []
    for path, (settings, runs) in zip(output.rounds, params.scenarios, strict=True):
        scenario = Scenario.read(settings, "scenario")
        try:
            tabulate(scenario, runs, Path(path).parent)
        except PauseflError as error:
            failed.append(str(error))
    if failed:
        raise PauseflError("\n".join(failed))
