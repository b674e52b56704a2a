"""Run one federated job."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import load_partition
from pausefl.federated.earlier import Saving, take_over
from pausefl.federated.job import Job
from pausefl.federated.run import run_job
from pausefl.federated.watcher import Watcher, told
from pausefl.settings.scenario import scenario_of_job

wildcards = snakemake.wildcards
with logged(snakemake.log[0]) as note:
    scenario = scenario_of_job(snakemake.params.settings)
    n_rounds = scenario.training.n_rounds
    job = Job(scenario, wildcards.selector, int(wildcards.seed), n_rounds, n_threads=snakemake.threads)
    dataset = load_dataset(Path(snakemake.input.data))
    partition = load_partition(Path(snakemake.input.partition))
    out = Path(snakemake.output.rounds).parent
    trained_by = [Path(path).parent for path in snakemake.input.trained_by]
    if not (trained_by and take_over(job, dataset, partition, trained_by[0], out)):
        # Saved state of other code or settings is of no use.
        saving = Saving(discard=True, note=note)
        with told(Watcher(n_rounds, horizon=scenario.training.horizon), note) as watcher:
            run_job(job, dataset, partition, out, watcher, saving, watcher.note)
