"""Paths of the files that the workflow makes, relative to the working directory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pausefl.data.partition import partition_key
from pausefl.registry import TABLES, kinds_of
from pausefl.results import published
from pausefl.settings import Experiment
from pausefl.workflow.experiments import Experiments

#: Files of a job.
RUN_FILES = ("rounds.parquet", "ledger.parquet", "summary.json")

#: What `pausefl.figures.style.save` writes.
FIGURE_FILES = ("pdf", "png", "svg", "json")


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that admits only these names; Snakemake ignores an empty constraint."""
    return "|".join(re.escape(name) for name in sorted(names)) or "(?!)"


def finished(table: Experiments) -> str:
    """Folder of finished runs, and of what studies computed."""
    return "results/published" if table.config.published else "results"


def prepared(table: Experiments, scenario: str) -> str:
    """The prepared data set of a scenario."""
    return f"data/prepared/{table.dataset(scenario)}.npz"


def partition(table: Experiments, scenario: str, seed: int | str, extension: str = "npz") -> str:
    """The partition that all selectors of a scenario share, or its picture."""
    folder = f"{table.dataset(scenario)}/{partition_key(table.job_scenarios[scenario])}"
    return f"data/partitions/{folder}/seed-{seed}.{extension}"


def run_folder(table: Experiments, row: Experiment) -> str:
    """Folder of a job's files, or the name of a published run."""
    return str(published.run_folder(Path(finished(table)), row))


def trained_by(table: Experiments, row: Experiment) -> list[str]:
    """Files of the run whose training a job takes over; none if it trains itself."""
    other = table.trained_by(row)
    return [] if other is None else [f"{run_folder(table, other)}/{name}" for name in RUN_FILES]


def job_inputs(table: Experiments, row: Experiment) -> dict[str, str | list[str]]:
    """What a job reads; ``trained_by`` are `trained_by`'s files."""
    return {
        "data": prepared(table, row.scenario),
        "partition": partition(table, row.scenario, row.seed),
        "trained_by": trained_by(table, row),
    }


def run_folders(table: Experiments, scenario: str) -> dict[Experiment, str]:
    """`run_folder` of all jobs of a scenario."""
    return {row: run_folder(table, row) for row in table.rows[scenario]}


def run_files(table: Experiments, scenario: str) -> list[str]:
    """Files of all jobs of a scenario; published runs share three."""
    if table.config.published:
        return [f"{finished(table)}/{scenario}/{name}" for name in published.FILES]
    return [f"{folder}/{name}" for folder in run_folders(table, scenario).values() for name in RUN_FILES]


def summaries(table: Experiments, scenario: str) -> list[str]:
    """Those of `run_files` that have summaries."""
    names = ("summary.json", published.LINES)
    return [path for path in run_files(table, scenario) if path.rpartition("/")[2] in names]


def figure(scenario: str, kind: str) -> list[str]:
    """The files of a figure of a scenario."""
    return [f"results/figures/{scenario}/{kind}.{extension}" for extension in FIGURE_FILES]


def table_kinds(table: Experiments, scenario: str) -> list[str]:
    """Kinds of tables that the runs of a scenario have the data for."""
    return kinds_of(table.scenarios[scenario], table.selectors(scenario), TABLES)


def tables(table: Experiments, scenario: str) -> list[str]:
    """The tables of a scenario."""
    files = [f"{kind}.{ending}" for kind in table_kinds(table, scenario) for ending in ("csv", "md")]
    return [
        f"results/tables/{scenario}/{file}" for file in ("rounds.parquet", "runs.csv", "about.json", *files)
    ]


def claims(scale: str) -> list[str]:
    """The verdicts at a scale."""
    return [f"results/claims/{scale}/claims.{extension}" for extension in ("json", "csv", "md")]


def study_folder(table: Experiments, study: str) -> str:
    """Folder of what a study computed."""
    return f"{'results' if table.studies[study].instant else finished(table)}/studies/{study}"


def study_data(table: Experiments, study: str) -> list[str]:
    """The files that a study computes."""
    return _study_files(table, study, table.studies[study].data)


def study_codes(table: Experiments, study: str) -> list[str]:
    """Files with hashes of the code that computed a study."""
    one = table.studies[study]
    return [f"results/studies/{study}/{name}" for name in one.files([one.code_file()])]


def study_runs(table: Experiments, study: str) -> dict[Experiment, str]:
    """Folders of the jobs whose runs a study collects."""
    return {row: run_folder(table, row) for row in table.runs_of_study(study)}


def study_plots(table: Experiments, study: str) -> list[str]:
    """The figure of a study, and the tables made with it."""
    names = (*table.studies[study].tables, *[f"{study}.{extension}" for extension in FIGURE_FILES])
    return [f"results/studies/{study}/{name}" for name in names]


def study_claims(table: Experiments, study: str) -> list[str]:
    """The files of a study that claims read."""
    return _study_files(table, study, table.studies[study].claims)


def _study_files(table: Experiments, study: str, names: Iterable[str]) -> list[str]:
    """Files of a study by the names of its kind; published files of its runs are one."""
    folder, files = Path(study_folder(table, study)), table.studies[study].files(names)
    return list(dict.fromkeys(str(published.study_file(folder, name)) for name in files))


def study_log(by_run: bool, extension: str) -> str:
    """Log or benchmark of what computes a study, or one of its runs, with wildcards."""
    run = "{selector}/seed-{seed}/" if by_run else ""
    return f"study/{{study}}/{run}compute.{extension}"
