"""Run jobs that are not there yet, one after another; if one fails, the others still run."""

from pausefl.workflow.step import logged

import traceback
from pathlib import Path

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import load_partition
from pausefl.errors import PauseflError, StoppedError
from pausefl.federated.earlier import Saving, is_made, take_over
from pausefl.federated.job import Job
from pausefl.federated.run import run_job, stop_requests
from pausefl.federated.watcher import Watcher, told
from pausefl.settings.scenario import scenario_of_job

with logged(snakemake.log[0]) as note, stop_requests() as asked_to_stop:
    scenario = scenario_of_job(snakemake.params.settings)
    n_rounds = scenario.training.n_rounds
    dataset = load_dataset(Path(snakemake.input.data))
    partition = load_partition(Path(snakemake.input.partition))
    saving = Saving(discard=True, note=note)
    folders = list(dict.fromkeys(Path(path).parent for path in snakemake.output))
    trained_by = {Path(path).parts[-3]: Path(path).parent for path in snakemake.input.trained_by}
    failed = []
    for out in folders:
        selector = out.parent.name
        if asked_to_stop():
            raise StoppedError(f"stopped before {selector}; run the same command again to resume")
        job = Job(scenario, selector, int(snakemake.wildcards.seed), n_rounds, n_threads=snakemake.threads)
        try:
            if is_made(job, dataset, partition, out):
                note(f"{selector}: is there")
                continue
            note(f"{selector}: begins")
            trained = trained_by.get(selector)
            if not (trained and take_over(job, dataset, partition, trained, out)):
                with told(Watcher(n_rounds, horizon=scenario.training.horizon), note) as watcher:
                    run_job(job, dataset, partition, out, watcher, saving, watcher.note)
        except StoppedError:
            raise
        except Exception as error:
            if len(folders) == 1:
                raise
            note(f"{selector}: failed\n{traceback.format_exc()}")
            failed.append(f"  {selector}: {error or type(error).__name__}")
    if failed:
        raise PauseflError(
            "\n".join([f"{len(failed)} of {len(folders)} jobs failed; the others are done", *failed])
        )
