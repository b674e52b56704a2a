"""Run one federated job."""

from pathlib import Path

from common import reported
from pausefl.config import scenario_from_dict
from pausefl.data.dataset import load_dataset
from pausefl.data.partition import load_partition
from pausefl.job import Job, run_job

wildcards = snakemake.wildcards
with reported(snakemake.log[0]):
    # A job is not told what only tables and figures read, so that editing those reruns no job.
    presentation = {"title": wildcards.scenario, "selectors": [wildcards.selector], "figures": {}}
    scenario = scenario_from_dict({**snakemake.params.settings, **presentation})
    job = Job(
        scenario,
        wildcards.selector,
        int(wildcards.seed),
        scenario.training.n_rounds,
        n_threads=snakemake.threads,
    )
    run_job(
        job,
        load_dataset(Path(snakemake.input.data)),
        load_partition(Path(snakemake.input.partition)),
        Path(snakemake.output.rounds).parent,
    )
