# What a Slurm cluster needs besides profiles/slurm; docs/cluster.md tells how to use it.
import os

from snakemake.logging import logger

from pausefl.workflow.slurm import failures

# Slurm's signal to end goes to every process of a job. The shell around a script waits for the script, which saves
# its state; without a trap it would end at once, and Slurm with it all the rest.
if "SLURM_JOB_ID" in os.environ:
    shell.prefix("set -euo pipefail; trap : TERM; ")


def job_gpus(wildcards):
    """A GPU for a CNN, if the user says how many there are (--resources gpu=N)."""
    is_cnn = SCENARIOS[wildcards.scenario].model.name not in ("fc", "linear")
    return int(is_cnn and "gpu" in workflow.global_resources)


def check_arrays():
    """Refuse limits under which the Slurm plugin waits for ever for the rest of an array."""
    if getattr(workflow.executor_settings, "array_jobs", None):
        n_jobs = len(list(workflow.dag.needrun_jobs()))
        limits = [workflow.global_resources[limit].value for limit in ("_nodes", "_cores")]
        if any(limit is not None and limit < n_jobs for limit in limits):
            raise WorkflowError(
                f"--jobs and --cores must not be below the number of jobs, {n_jobs}, or job arrays never fill: leave"
                ' them out, or add --slurm-array-jobs "" to submit jobs one by one.'
            )


onerror:
    text = "".join(Path(file).read_text("utf-8") for file in log)
    reasons = failures(text, Path(".snakemake/slurm_logs"))
    if reasons:
        logger.error("\n".join(["", "Failed jobs:", *(f"  {reason}" for reason in reasons), ""]))
