"""Publish finished runs and studies."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.reproduction.publishing import publish_runs, publish_study
from pausefl.runs.collected import runs_in

published = Path("results/published")
with logged(snakemake.log[0]) as note:
    for folder in dict.fromkeys(Path(file).parent for file in snakemake.input.runs):
        note(publish_runs(runs_in(folder), published / folder.name))
    for folder in map(Path, snakemake.input.studies):
        note(publish_study(folder, published / "studies" / folder.name))
