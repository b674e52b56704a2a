# What a Slurm cluster needs besides profiles/slurm. docs/cluster.md describes its use.
import os
import shutil

from snakemake.exceptions import WorkflowError

# Slurm's signal to end goes to every process of a job. Without a trap the shell around a script would end at once,
# and Slurm would kill the script before it has saved its state.
if "SLURM_JOB_ID" in os.environ:
    shell.prefix("set -euo pipefail; trap : TERM; ")

# The value of `jobs` in profiles/slurm.
NO_LIMIT = 100000


def check_arrays():
    """Refuse limits, under which the Slurm plugin may wait for ever for the rest of an array."""
    if getattr(workflow.executor_settings, "array_jobs", None):
        limits = [workflow.global_resources[limit].value for limit in ("_nodes", "_cores")]
        if any(limit is not None and limit < NO_LIMIT for limit in limits):
            raise WorkflowError(
                "with --jobs or --cores, job arrays may never fill: leave them out, or add"
                ' --slurm-array-jobs "" to submit jobs one by one.'
            )


def check_slurm():
    """Refuse profiles/slurm on a machine without Slurm."""
    if hasattr(workflow.executor_settings, "array_jobs") and not shutil.which("sbatch"):
        raise WorkflowError(
            "there is no Slurm on this machine (no command sbatch): run this on a login node of the cluster,"
            " or leave out --profile profiles/slurm to run here"
        )
