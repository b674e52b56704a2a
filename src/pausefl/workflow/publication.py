"""What there is to publish: runs and studies that were finished here, and those not published yet."""

from __future__ import annotations

from pathlib import Path

from pausefl.project import Project
from pausefl.results.published import RunFiles, read_study, run_folder
from pausefl.settings import Experiment
from pausefl.workflow import paths
from pausefl.workflow.targets import reproduced

_PUBLISHED = Path("results/published")


def runs(table: Project) -> dict[Experiment, str]:
    """Folder of each run of the configuration that is finished here or not published, by scenario."""
    folders = {job: folder for name in table.own for job, folder in paths.run_folders(table, name).items()}
    return {
        job: folder
        for job, folder in folders.items()
        if RunFiles(Path(folder)).there() or not RunFiles.of(run_folder(_PUBLISHED, job)).there()
    }


def studies(table: Project) -> dict[str, list[str]]:
    """Names of the files of each study that was computed here or is not published."""
    found = {}
    for name in reproduced(table):
        study, here = table.studies[name], Path("results/studies") / name
        tables = study.files(dict.fromkeys([*study.data, *study.claims]))
        published = all(read_study(_PUBLISHED / "studies" / name, file) is not None for file in tables)
        if not study.instant and (any((here / file).is_file() for file in tables) or not published):
            found[name] = tables
    return found
