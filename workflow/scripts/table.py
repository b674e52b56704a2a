"""Tabulate all runs of a scenario: every round, one line for each run, and its tables for people."""

from pausefl.workflow.step import logged

import json
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from pausefl.figures.notes import absent_note, run_notes, scale_note, with_notes
from pausefl.files import replacing
from pausefl.registry.figures import protected
from pausefl.registry.selectors import LABELS
from pausefl.results import archive, privacy_table, tables
from pausefl.results.markdown import to_latex
from pausefl.results.outcomes import TARGET
from pausefl.results.runs import check_settings, read_runs
from pausefl.settings import Scenario
from pausefl.workflow.copies import run_folders

output, params = snakemake.output, snakemake.params


def summary() -> tuple[pd.DataFrame, str]:
    """One line for each selector."""
    table = tables.by_selector(by_run)
    text = tables.to_markdown(table, LABELS, protected(scenario))
    return table, with_notes(f"{text}\nData: {'; '.join(about['dataset_origins'])}.\n", notes)


def privacy() -> tuple[pd.DataFrame, str]:
    """What users have spent."""
    table = privacy_table.privacy_table(runs, scenario.privacy)
    return table, with_notes(privacy_table.to_markdown(table, LABELS), notes)


def authors() -> tuple[pd.DataFrame, str]:
    """The authors' archived runs beside ours."""
    table = archive.beside_ours(rounds, scenario)
    return table, archive.to_markdown(table, LABELS)


MAKE = {"summary": summary, "privacy": privacy, "authors": authors}

with logged(snakemake.log[0]):
    scenario = Scenario.read(params.scenario, "scenario")
    runs = run_folders(snakemake.input, params.runs)
    rounds, summaries = read_runs(runs)
    check_settings(summaries, scenario.job_settings())
    by_run = tables.summarise(rounds, summaries)
    rounds.attrs[TARGET] = float(by_run["target_accuracy"].iloc[0])  # to_parquet keeps it
    warnings = run_notes(summaries.values(), params.versions)
    warnings.shown.extend(filter(None, [absent_note(scenario, set(by_run["selector"]))]))
    about = {
        "runs": list(params.runs.values()),
        "seeds": sorted({run["seed"] for run in summaries.values()}),
        "code_hashes": sorted({run["code_hash"] for run in summaries.values()}),
        "dataset_origins": sorted({run["dataset_origin"] for run in summaries.values()}),
        "notes": asdict(warnings),
    }
    notes = [scale_note(scenario), *warnings.all()]
    made = [MAKE[kind]() for kind in params.kinds]
    files = (output.rounds, output.runs, output.about, *output.csv, *output.text, *output.latex)
    paths, n = [Path(path) for path in files], len(made)
    with replacing(*paths) as (to_rounds, to_runs, to_about, *to_kinds):
        rounds.to_parquet(to_rounds, index=False)
        by_run.to_csv(to_runs, index=False)
        to_about.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        to_each = zip(to_kinds[:n], to_kinds[n : 2 * n], to_kinds[2 * n :], strict=True)
        for (table, text), (csv, page, latex) in zip(made, to_each, strict=True):
            table.to_csv(csv, index=False)
            page.write_text(text, encoding="utf-8")
            latex.write_text(to_latex(text), encoding="utf-8")
