"""Write what DVC compares between revisions."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.reproduction.dvc_metrics import write
from pausefl.runs.collected import read_scenarios
from pausefl.runs.run import rounds_of

files = snakemake.input
with logged(snakemake.log[0]):
    runs = read_scenarios(files, [one["runs"] for one in snakemake.params.shown])
    tables = {Path(folder): rounds_of(runs[Path(folder).name].values()) for folder in files.tables}
    results = Path(snakemake.output[0].partition("metrics/")[0])
    write(tables, map(Path, files.claims), results / "metrics", results / "plots")
