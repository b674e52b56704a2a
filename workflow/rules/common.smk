# The configuration `W` and its `TARGETS`, checked before anything runs. All other rule files read it, and nothing of each other.
import os
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

from pausefl.errors import PauseflError
from pausefl.files import check_writable
from pausefl.project import Project
from pausefl.provenance import code_hash
from pausefl.registry import MODELS
from pausefl.registry.own import from_folder
from pausefl.settings import home, read_yaml
from pausefl.workflow import checks, paths, plan, targets
from pausefl.workflow.paths import one_of


def checked(action, *arguments):
    """Show a mistake of the user as a message, without a traceback into the library."""
    try:
        return action(*arguments)
    except PauseflError as error:
        raise WorkflowError(str(error)) from None


# Where the configuration and the ledger are that come with pausefl: beside the Snakefile, or, where that is read from
# Git, in the package.
BESIDE = Path(str(workflow.current_basedir)).parents[1]
ROOT = Path(os.path.relpath(BESIDE)) if BESIDE.is_dir() else home()
W = checked(Project.load, config, ROOT)

# A job that runs in a process of its own need not check again, nor load what checks.
if workflow.is_main_process:
    for file in workflow.configfiles:  # Snakemake takes the last of two equal keys
        checked(read_yaml, Path(file))
    checked(checks.check, W)
    # Where Snakemake keeps what it knows.
    checked(check_writable, Path(".snakemake"))
    for name in ("log", "locks", "metadata", "incomplete"):
        if (folder := Path(".snakemake", name)).exists():
            checked(check_writable, folder)

# Whether results are kept elsewhere than in the working directory (--default-storage-provider).
STORED = workflow.storage_settings.default_storage_provider is not None


def of_checkout(files):
    """Flag those files that are where the workflow is whatever keeps the results: what Git has, and image folders."""
    if not STORED:
        return files
    kept = ("results/", "data/")
    return [
        file if file.startswith(kept) and not file.startswith("results/published/") else local(file)
        for file in files
    ]


def raw_files(wildcards):
    """What a data set is made from; a storage may have official files, and no image folders."""
    files = checked(paths.raw, W, wildcards.dataset, STORED)
    return [local(file) for file in files] if STORED and not paths.official(W, wildcards.dataset) else files


# What can be asked for by name.
TARGETS = targets.targets(W)

# What jobs cost, as measured on another machine.
RATES = plan.shipped_rates()


def code_of(script, *modules, records=None):
    """Hash of a script of the workflow, of what it imports, and of what it loads by name."""
    return code_hash(Path(workflow.source_path(f"../scripts/{script}.py")), *modules, records=records)


def division(wildcards):
    """Scenario whose settings say how a data set is divided among users."""
    return W.partitions[wildcards.dataset, wildcards.partition]


def trains_images(wildcards):
    """Whether the model of a job is convolutional."""
    return MODELS[W.job_scenarios[wildcards.scenario].model.name].family == "convolutional"


def job_inputs(wildcards):
    """Data, partition, and the run whose training a job takes over, if any."""
    return paths.job_inputs(W, paths.experiment_of(wildcards))


def asked(wildcards):
    """Minutes and MB to ask of a cluster for a job."""
    return plan.asked(W, paths.experiment_of(wildcards), RATES)


def at_once(names, wildcard="scenario"):
    """Names in the paths of a rule: as a wildcard, or one by one where a single step makes all."""
    return names if W.config.published else [f"{{{wildcard}}}"]


def of_step(places, wildcards):
    """Names of a step, by those in the paths of its rule."""
    return [place.format(**dict(wildcards.items())) for place in places]


def runs_of(places, wildcards):
    """Files of the runs of a step's scenarios."""
    names = of_step(places, wildcards)
    return of_checkout([file for name in names for file in checked(checks.run_files, W, name)])


def to_tabulate(places, wildcards):
    """Settings of a step's scenarios, and their runs."""
    names = of_step(places, wildcards)
    return [(W.scenarios[name].as_dict(), paths.run_folders(W, name)) for name in names]


def to_plot(places, wildcards):
    """Settings of a step's scenarios."""
    return [W.settings(name) for name in of_step(places, wildcards)]


def studies_to_plot(places, wildcards):
    """A step's studies: names, settings, titles, and what they computed."""
    return [
        (
            name,
            W.studies[name].settings(),
            W.studies[name].title if W.config.titles else "",
            paths.study_data(W, name),
        )
        for name in of_step(places, wildcards)
    ]


def computed(places, wildcards):
    """Files that a step's studies computed."""
    return of_checkout([file for name in of_step(places, wildcards) for file in paths.study_data(W, name)])


def tested(wildcards):
    """Scenarios on whose runs claims are tested at a scale."""
    return targets.claim_scenarios(W, wildcards.scale)


wildcard_constraints:
    scenario=one_of(W.job_scenarios),
    selector=r"[A-Za-z0-9_.]+",
    seed=r"\d+",
    dataset=one_of(W.datasets),
    study=one_of(W.studies),
