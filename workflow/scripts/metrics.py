"""Write what DVC compares between revisions."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.results.dvc_metrics import write

with logged(snakemake.log[0]):
    tables = [Path(path).parent for path in snakemake.input.summaries]
    claims = [Path(path) for path in snakemake.input.claims]
    results = Path(tables[0]).parents[1]
    write(tables, claims, results / "metrics", results / "plots")
