"""Where a rule's files are: under their names, or, if a storage has them, where Snakemake keeps copies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pausefl.results.published import run_folder
from pausefl.settings import Experiment


def run_folders(files: Sequence[str], runs: Iterable[Experiment]) -> dict[Experiment, Path]:
    """Folder of each run, or the name of a published one, by paths of `pausefl.workflow.paths.run_files`."""
    if not files:
        return {}
    first = Path(files[0])
    published = first.parents[1].name == "published"
    results = first.parents[1] if published else first.parents[4]
    return {run: run_folder(results, run) for run in runs}


def study_folder(path: str, file: str) -> Path:
    """Folder of a study, by the path of the ``file`` that it computed; published ones are side by side."""
    path = str(path)
    return Path(path.removesuffix(file)) if path.endswith(file) else Path(path).parent
