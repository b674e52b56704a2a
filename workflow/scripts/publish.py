"""Publish finished runs and studies."""

from pausefl.workflow.step import logged

from itertools import groupby
from pathlib import Path

from pausefl.results.publishing import publish_runs, publish_study

PUBLISHED = Path("results/published")

params = snakemake.params
with logged(snakemake.log[0]) as note:
    for _, runs in groupby(params.runs.items(), lambda run: run[0].scenario):
        for line in publish_runs({row: Path(folder) for row, folder in runs}, PUBLISHED, params.replace):
            note(line)
    for study, files in params.studies.items():
        target = PUBLISHED / "studies" / study
        for line in publish_study(Path("results/studies") / study, files, target, params.replace):
            note(line)
