"""Paths of the files that the workflow reads and makes, relative to the working directory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pausefl.data import sources
from pausefl.data.partition import partition_key
from pausefl.figures import overview as figures
from pausefl.project import Project
from pausefl.registry import TABLES, kinds_of
from pausefl.registry.own import from_folder
from pausefl.report import questions
from pausefl.results import published
from pausefl.settings import DataSettings, Experiment

#: Files of a job.
RUN_FILES = ("rounds.parquet", "ledger.parquet", "summary.json")

#: What `pausefl.figures.style.save` writes of every figure.
FIGURE_FILES = ("pdf", "png", "json")


def one_of(names: Iterable[str]) -> str:
    """A wildcard constraint that admits only these names; Snakemake ignores an empty constraint."""
    return "|".join(re.escape(name) for name in sorted(names)) or "(?!)"


def finished(table: Project) -> str:
    """Folder of finished runs, and of what studies computed."""
    return "results/published" if table.config.published else "results"


def raw(table: Project, dataset: str, stored: bool = False) -> list[str]:
    """Raw files, or the image folder, that a data set is made from; ``stored`` as for `downloads`.

    Raises
    ------
    DataError
        If they are not there and cannot be downloaded; the message lists what is missing.
    """
    settings = table.datasets[dataset]
    if not _downloadable(table, settings) and not (stored and official(table, dataset)):
        sources.check_available(settings, table.config.raw)
    return _raw_files(table, settings)


def official(table: Project, dataset: str) -> bool:
    """Whether a data set is made from official files in the working directory, which a storage can have."""
    raw = table.config.raw
    inside = not (raw.root.is_absolute() or ".." in raw.root.parts)
    return inside and bool(sources.find_record(table.datasets[dataset], raw).torchvision)


def downloads(table: Project, stored: bool = False) -> dict[str, list[str]]:
    """Files to download, by source: all files of a source of which one is missing.

    If they are ``stored`` elsewhere nobody knows yet what is missing, so it is those of every source.
    """
    raw = table.config.raw
    wanted = [
        settings
        for name, settings in table.datasets.items()
        if _downloadable(table, settings) or (stored and raw.download and official(table, name))
    ]
    return {settings.source: _raw_files(table, settings) for settings in wanted}


def _downloadable(table: Project, settings: DataSettings) -> bool:
    """Whether a file of a data set is missing and may be downloaded."""
    raw = table.config.raw
    can = raw.download and bool(sources.find_record(settings, raw).torchvision)
    return can and bool(sources.missing_files(settings, raw))


def _raw_files(table: Project, settings: DataSettings) -> list[str]:
    """Raw files; relative to the working directory if the data root is."""
    root, files = table.config.raw.root, sources.raw_files(settings, table.config.raw)
    return [str(root / path.relative_to(root.absolute())) for path in files]


def partition(table: Project, scenario: str, seed: int | str, extension: str = "npz") -> str:
    """The partition that all selectors of a scenario share, or its picture."""
    folder = f"{table.dataset(scenario)}/{partition_key(table.job_scenarios[scenario])}"
    return f"data/partitions/{folder}/seed-{seed}.{extension}"


def run_folder(table: Project, experiment: Experiment) -> str:
    """Folder of a job's files, or the name of a published run."""
    return str(published.run_folder(Path(finished(table)), experiment))


def experiment_of(wildcards: Any) -> Experiment:
    """The experiment that a job's files belong to, from Snakemake's wildcards."""
    return Experiment(wildcards.scenario, from_folder(wildcards.selector), int(wildcards.seed))


def of_runs(folders: Iterable[str]) -> list[str]:
    """The files of jobs."""
    return [f"{folder}/{name}" for folder in folders for name in RUN_FILES]


def job_inputs(table: Project, experiment: Experiment) -> dict[str, str | list[str]]:
    """What a job reads; ``trained_by`` are the files of the run whose training it takes over, if any."""
    other = table.trained_by(experiment)
    return {
        "data": f"data/prepared/{table.dataset(experiment.scenario)}.npz",
        "partition": partition(table, experiment.scenario, experiment.seed),
        "trained_by": [] if other is None else of_runs([run_folder(table, other)]),
    }


def run_folders(table: Project, scenario: str) -> dict[Experiment, str]:
    """`run_folder` of all jobs of a scenario."""
    return {one: run_folder(table, one) for one in table.experiments[scenario]}


def run_files(table: Project, scenario: str) -> list[str]:
    """Files of all jobs of a scenario; published runs share three."""
    if table.config.published:
        return [f"{finished(table)}/{scenario}/{name}" for name in published.FILES]
    return of_runs(run_folders(table, scenario).values())


def figure(scenario: str, kind: str) -> list[str]:
    """The files of a figure of a scenario."""
    return [f"results/figures/{scenario}/{kind}.{extension}" for extension in FIGURE_FILES]


def table_kinds(table: Project, scenario: str) -> list[str]:
    """Kinds of tables that the runs of a scenario have the data for."""
    return kinds_of(table.scenarios[scenario], table.selectors(scenario), TABLES)


def tables(table: Project, scenario: str) -> list[str]:
    """The tables of a scenario."""
    files = [f"{kind}.{ending}" for kind in table_kinds(table, scenario) for ending in ("csv", "md", "tex")]
    return [
        f"results/tables/{scenario}/{file}" for file in ("rounds.parquet", "runs.csv", "about.json", *files)
    ]


def claims(scale: str) -> list[str]:
    """The verdicts at a scale."""
    return [f"results/claims/{scale}/claims.{extension}" for extension in ("json", "csv", "md")]


def overview(table: Project) -> list[str]:
    """What opens the report of a configuration with figures of accuracy of PAUSE v2; else nothing."""
    if not figures.scenarios(table.own):
        return []
    picture = [f"results/figures/overview.{extension}" for extension in FIGURE_FILES]
    return [*picture, "results/tables/questions.csv", "results/tables/questions.md"]


def overview_inputs(table: Project) -> dict[str, list[str]]:
    """What the overview is made from: all rounds of scenarios, facts of those in the picture, a study."""
    tables = "results/tables"
    shown = figures.scenarios(table.own)
    asked = [name for name in questions.scenarios() if name in table.own]
    found = {
        "rounds": [f"{tables}/{name}/rounds.parquet" for name in dict.fromkeys([*shown, *asked])],
        "about": [f"{tables}/{name}/about.json" for name in shown],
    }
    if questions.LONG_RUNS in table.studies:
        found["curves"] = study_data(table, questions.LONG_RUNS)
    return found


def study_folder(table: Project, study: str) -> str:
    """Folder of what a study computed."""
    return f"{'results' if table.studies[study].instant else finished(table)}/studies/{study}"


def study_data(table: Project, study: str) -> list[str]:
    """The files that a study computes."""
    return _study_files(table, study, table.studies[study].data)


def study_runs(table: Project, study: str) -> dict[Experiment, str]:
    """Folders of the jobs whose runs a study collects."""
    return {one: run_folder(table, one) for one in table.runs_of_study(study)}


def study_plots(table: Project, study: str) -> list[str]:
    """The figure of a study, and the tables made with it."""
    names = (*table.studies[study].tables, *[f"{study}.{extension}" for extension in FIGURE_FILES])
    return [f"results/studies/{study}/{name}" for name in names]


def study_claims(table: Project, study: str) -> list[str]:
    """The files of a study that claims read."""
    return _study_files(table, study, table.studies[study].claims)


def _study_files(table: Project, study: str, names: Iterable[str]) -> list[str]:
    """Files of a study by the names of its kind; published files of its runs are one."""
    folder, files = Path(study_folder(table, study)), table.studies[study].files(names)
    return list(dict.fromkeys(str(published.study_file(folder, name)) for name in files))
