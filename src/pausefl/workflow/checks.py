"""Everything that can be wrong with a configuration, found before anything runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from pausefl.data.partition import check_partition
from pausefl.data.sources import check_available, missing_files, training_size
from pausefl.errors import ConfigError
from pausefl.federated.runnable import check_table
from pausefl.files import check_writable
from pausefl.project import Project
from pausefl.registry import SOURCES
from pausefl.results.published import RunFiles
from pausefl.settings import Experiment
from pausefl.studies import kinds
from pausefl.workflow import paths, targets


def check(table: Project) -> None:
    """Check that every name is one target, and that every job, study and partition can be made.

    Raises
    ------
    ConfigError, DataError
        For the first thing that is wrong.
    """
    check_interpreter(sys.executable)
    check_names(table)
    if table.config.published:
        return
    check_table(table.config)
    for study in table.studies.values():
        study.check()
    for name, scenario in table.scenarios.items():
        n_examples = training_size(scenario.data, table.config.raw)
        if n_examples is not None:
            check_partition(scenario, n_examples, table.seeds(name))


def check_interpreter(executable: str) -> None:
    """Refuse an interpreter that Snakemake cannot start scripts with: a shell gets its path as it is."""
    if re.search(r"[\s\"'\\$`&|;<>()*?\[\]{}~#!]", executable):
        raise ConfigError(
            f"Snakemake cannot start scripts with {executable!r}, because of a space or special character in"
            " the path. Move the checkout to a path without, and install again there"
        )


def check_names(table: Project) -> None:
    """Refuse a scenario, figure or study whose name is also that of another one, or of a rule."""
    by_kinds = [f"plot_{figures}" for figures in targets.scenarios_by_figures(table)]
    own = [*rules(table.root), *targets.scenarios_by_tables(table), *by_kinds]
    owners = dict.fromkeys(own, targets.RULE)
    names = [(target.name, target.owner) for target in targets.every(table) if target.owner != targets.RULE]
    names += [
        (own, f"the scenario of the jobs of study '{name}'")
        for name, study in table.studies.items()
        for own in study.own_names
    ]
    for name, owner in names:
        if name in owners:
            raise ConfigError(f"{owner} is called '{name}', like {owners[name]}: rename one of them")
        owners[name] = owner


def rules(root: Path) -> set[str]:
    """Names of the workflow's own rules and targets."""
    files = [root / "workflow/Snakefile", root / "Snakefile", *(root / "workflow/rules").glob("*.smk")]
    texts = [file.read_text("utf-8") for file in files if file.is_file()]
    found = {name for text in texts for name in re.findall(r"^\s*rule (\w+):", text, re.MULTILINE)}
    found |= {f"{verb}_{kind}" for kind in kinds() for verb in ("compute", "plot")}
    return found | {f"download_{source}" for source in SOURCES} | targets.COLLECTIONS.keys()


def check_published(table: Project, experiments: Iterable[Experiment]) -> None:
    """Raise `ConfigError` if a run is to be read from ``results/published`` and is not there."""
    folders = [paths.run_folder(table, one) for one in experiments]
    if missing := [folder for folder in folders if not RunFiles.of(Path(folder)).there()]:
        others = f", nor {len(missing) - 1} other runs" if len(missing) > 1 else ""
        raise ConfigError(f"runs = 'published', but there is no {missing[0]}{others}")


def check_folders(files: Iterable[str]) -> None:
    """Raise `PauseflError` if a folder cannot be written that is to hold some of these files."""
    folders = {next(folder for folder in Path(file).parents if folder.exists()) for file in files}
    for folder in sorted(folders):
        check_writable(folder)


def run_files(table: Project, scenario: str) -> list[str]:
    """Files of all jobs of a scenario; `ConfigError` if they are published without some of the jobs."""
    files = paths.run_files(table, scenario)
    if table.config.published and all(Path(path).is_file() for path in files):
        check_published(table, table.experiments[scenario])
    return files


def check_data(table: Project) -> list[str]:
    """Check that the raw data, or published runs, of a configuration are there.

    Returns
    -------
    list of str
        Data sources that are missing and that the workflow would download.

    Raises
    ------
    DataError
        If raw files are missing that it cannot download.
    ConfigError
        If a run is to be read from ``results/published`` and is not there.
    """
    if table.config.published:
        check_published(table, table.config.experiments)
        return []
    wanted = {}
    for data in (table.scenarios[name].data for name in table.own):
        check_available(data, table.config.raw)
        if missing_files(data, table.config.raw):
            wanted[data.source] = True
    return list(wanted)
