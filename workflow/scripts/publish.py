"""Publish finished runs and studies."""

from pausefl.workflow.step import logged

from itertools import groupby
from pathlib import Path

from pausefl.results.publishing import publish_runs, publish_study
from pausefl.workflow.copies import run_folders, study_folder

PUBLISHED = Path("results/published")

params = snakemake.params
with logged(snakemake.log[0]) as note:
    folders = run_folders(snakemake.input.runs, params.runs)
    for _, runs in groupby(folders.items(), lambda run: run[0].scenario):
        for line in publish_runs(dict(runs), PUBLISHED, params.replace):
            note(line)
    paths = iter(snakemake.input.studies)
    for study, files in params.studies.items():
        first, *_ = [next(paths) for _ in files]
        target = PUBLISHED / "studies" / study
        for line in publish_study(study_folder(first, files[0]), files, target, params.replace):
            note(line)
