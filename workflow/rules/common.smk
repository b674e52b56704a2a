# The configuration, checked before anything runs, and the functions that the rules share.
import hashlib
import os
import sys
import time
from pathlib import Path

from snakemake.exceptions import WorkflowError

from pausefl.data.raw_data import check_available, source_class
from pausefl.errors import PauseflError
from pausefl.analysis.figures.kinds import FIGURES
from pausefl.plugins import from_folder
from pausefl.provenance import code_hash, job_code
from pausefl.schema.yaml import typed
from pausefl.reproduction.beside_published import beside_published
from pausefl.settings import home, read_yaml
from pausefl.reproduction.targets import checks, plan, report_parts, targets
from pausefl.reproduction.targets.project import Project

# Slurm's signal to end goes to every process of a job. Without a trap the shell around a script would end at once,
# and Slurm would kill the script before it has saved its state.
if "SLURM_JOB_ID" in os.environ:
    shell.prefix("set -euo pipefail; trap : TERM; ")


def checked(action, *arguments):
    """Show a mistake of the user as a message, without a traceback into the library."""
    try:
        return action(*arguments)
    except PauseflError as error:
        raise WorkflowError(str(error)) from None


# Where the configuration and the ledger are that come with pausefl: beside the Snakefile, or, where that is read from
# Git, in the package.
BESIDE = Path(str(workflow.current_basedir)).parents[1]
for configfile in workflow.configfiles:  # refuses equal keys, of which Snakemake would take the last
    checked(read_yaml, Path(configfile))

# When this workflow began.
STARTED = time.time()

# Snakemake has text for the numbers that are in lists and mappings of its command line.
config |= {key: typed(config[key]) for key in workflow.config_settings.config if key in config}

# Of the configuration `W`: `own` are names of its scenarios, `scenarios` these and the demo's by name, `job_scenarios` also
# those of studies that train; `experiments` are the jobs of a scenario; `figures` have a scenario and what it asks for; `studies`,
# `datasets` are settings by name; `runs_folder` is results/collected, or with `runs: published` results/published.
W = checked(Project.load, config, Path(os.path.relpath(BESIDE)) if BESIDE.is_dir() else home())
checked(checks.check, W)
for line in W.undrawn.values() if workflow.is_main_process else ():
    logger.warning(line)


def one_of(names):
    """A wildcard constraint that admits only these names; Snakemake ignores an empty one."""
    return "|".join(names) or "(?!)"


def local_if_published(files):
    """Files as they are, but those that Git keeps `local`, whatever storage keeps the results."""
    return [local(file) if file.startswith("results/published/") else file for file in files]


def files_of(name):
    """All files that a name stands for (src/pausefl/reproduction/targets/targets.py)."""
    return local_if_published(checked(targets.find, W, name).files)


def collected(*scenarios):
    """All runs of scenarios, three files each, computed or published."""
    return local_if_published([file for name in scenarios for file in targets.collected_files(W, name)])


def raw(wildcards):
    """Raw files of a data set, or their folder; none if they come with pausefl, or are made."""
    files = W.raw(wildcards.dataset)
    if not W.downloads.keys() & files:
        checked(check_available, W.datasets[wildcards.dataset], W.config.raw)
    elif files[0].exists():  # and then made already, for Snakemake
        raise WorkflowError(f"{files[0]} lacks files: move it elsewhere, and all of it is downloaded")
    return [local(str(path)) for path in files]


def runs_shown(scenario):
    """What tables and figures of a scenario show: its settings, which runs, and the folder of these."""
    return {"scenario": W.settings(scenario), "runs": W.experiments[scenario], "folder": W.runs_folder}


def code_of(script, *modules, parts=None):
    """Hash of a script, of the modules that it imports, and of what it loads by name.

    `parts` are the selectors, models and so on that it uses; without, it may use all of them.
    """
    return code_hash(Path(workflow.source_path(f"../scripts/{script}.py")), *modules, parts=parts)


def digest_of(value):
    """Hash of a parameter's value: Snakemake compares plain values alone, and takes any other for unchanged."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


wildcard_constraints:
    scenario=one_of(W.scenarios),
    selector=r"[A-Za-z0-9_.]+",
    seed=r"\d+",
    dataset=one_of(W.datasets),
    partition="[^/]+",
    figure=one_of(W.figures),
    study=one_of(W.studies),
    scale=one_of({*W.scales, *W.demo_scales}),
    report=one_of(["all", "demo", *W.scenarios, *W.studies]),
