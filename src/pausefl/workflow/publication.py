"""What there is to publish: runs and studies that were finished here, and those not published yet."""

from __future__ import annotations

from pathlib import Path

from pausefl.results.published import RunFiles, read_study, run_folder
from pausefl.settings import Experiment
from pausefl.workflow import paths
from pausefl.workflow.experiments import Experiments
from pausefl.workflow.targets import reproduced

_PUBLISHED = Path("results/published")


def runs(table: Experiments) -> dict[Experiment, str]:
    """Folder of each run of the configuration that is finished here or not published, by scenario."""
    rows = [row for name in table.config.scenarios for row in table.rows[name]]
    folders = {row: paths.run_folder(table, row) for row in rows}
    return {row: folder for row, folder in folders.items() if _due(Path(folder), run_folder(_PUBLISHED, row))}


def _due(folder: Path, published: Path) -> bool:
    return RunFiles(folder).there() or not RunFiles.of(published).there()


def run_files(table: Experiments) -> list[str]:
    """Files of `runs`."""
    return [f"{folder}/{name}" for folder in runs(table).values() for name in paths.RUN_FILES]


def studies(table: Experiments) -> dict[str, list[str]]:
    """Names of the files of each study that was computed here or is not published."""
    found = {}
    for name in reproduced(table):
        study = table.studies[name]
        tables = study.files(dict.fromkeys([*study.data, *study.claims]))
        here, there = Path(paths.study_folder(table, name)), _PUBLISHED / "studies" / name
        published = all(read_study(there, file) is not None for file in tables)
        if not study.instant and (any((here / file).is_file() for file in tables) or not published):
            found[name] = [*tables, *study.files([study.code_file()])]
    return found


def study_files(table: Experiments) -> list[str]:
    """Files of `studies`."""
    return [
        f"{paths.study_folder(table, name)}/{file}"
        for name, files in studies(table).items()
        for file in files
    ]
