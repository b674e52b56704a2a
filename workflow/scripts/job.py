"""Run one federated job, or take over the training of another that trains the same."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import load_partition, partition_key, partition_name
from pausefl.federated.checkpoint import Saving
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.federated.watcher import Watcher, told
from pausefl.reproduction.reused_training import with_reused_training
from pausefl.settings.scenario import scenario_of_job

files, wildcards = snakemake.input, snakemake.wildcards
with logged(snakemake.log[0]) as note:
    scenario, out = scenario_of_job(snakemake.params.settings), Path(snakemake.output.summary).parent
    n_rounds = scenario.training.n_rounds
    job = Job(scenario, wildcards.selector, int(wildcards.seed), n_rounds, n_threads=snakemake.threads)
    key = partition_key(scenario.data, scenario.partition, scenario.network.n_users)
    name = partition_name(Path(files.data).stem, key, job.seed)
    dataset, partition = load_dataset(Path(files.data)), load_partition(Path(files.partition), name)
    trained = Path(files.trained_by[0]).parent if files.trained_by else None
    if not (trained and with_reused_training(job, dataset, partition, trained, out)):
        with told(Watcher(n_rounds, horizon=scenario.training.horizon), note) as watcher:
            run_job(job, dataset, partition, out, watcher, Saving(discard=True, note=note), watcher.note)
