# What a Slurm cluster needs besides profiles/slurm. docs/cluster.md describes its use.
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from pausefl.workflow.slurm import absence, failures

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
    if hasattr(workflow.executor_settings, "array_jobs") and (problem := absence()):
        raise WorkflowError(problem)


onerror:
    text = "".join(Path(file).read_text("utf-8") for file in log)
    reasons = failures(text, Path(".snakemake/slurm_logs"))
    # Without a cluster there is nothing that the output has not said.
    if reasons and not workflow.local_exec:
        logger.error("\n".join(["", "Failed jobs:", *(f"  {reason}" for reason in reasons), ""]))
