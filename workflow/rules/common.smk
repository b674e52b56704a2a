# The experiment table, checked before anything runs, and the paths that follow from it.
import dataclasses
import re
from pathlib import Path

from snakemake.exceptions import WorkflowError

from pausefl.settings.claims import load_claims, places, plain, scales
from pausefl.settings import (
    load_config,
    load_scenario,
    read_yaml,
    scenario_names,
)
from pausefl.data.partition import check_partition, partition_key
from pausefl.data.sources import (
    check_available,
    dataset_key,
    describe_origin,
    find_record,
    training_size,
)
from pausefl.errors import PauseflError, suggest
from pausefl.figures.captions import (
    caption_facts,
    paper_figures,
    wholes,
)
from pausefl.figures.notes import SidecarNotes, scale_note
from pausefl.files import check_writable
from pausefl.provenance import code_hash, job_code
from pausefl.results.published import those_published
from pausefl.registry import FIGURES, kinds_of, tables_of
from pausefl.studies.code import study_code
from pausefl.settings.studies import load_studies, one_run, settings_of


def checked(load, *arguments):
    """Show a mistake of the user as a message, not as a traceback into the library."""
    try:
        return load(*arguments)
    except PauseflError as error:
        raise WorkflowError(str(error)) from None


# The demo is always a target unless runs are those published; whatever else runs is up to the configuration.
CONFIG = checked(load_config, config, "configuration")
DEMO = checked(load_config, checked(read_yaml, Path("config/demo.yaml")), "config/demo.yaml")
SCENARIOS = CONFIG.scenarios if CONFIG.published else DEMO.scenarios | CONFIG.scenarios
EXPERIMENTS = {
    name: [row for row in (CONFIG if name in CONFIG.scenarios else DEMO).experiments if row.scenario == name]
    for name in SCENARIOS
}
SEEDS = {name: sorted({row.seed for row in rows}) for name, rows in EXPERIMENTS.items()}
STUDIES = checked(load_studies, CONFIG.studies, Path(config["scenarios"]))
# Where finished runs, and what studies computed, are found.
FINISHED = "results/published" if CONFIG.published else "results"
if CONFIG.published:
    STUDIES = those_published(STUDIES, Path(FINISHED) / "studies")
CLAIMS = checked(load_claims, Path("config/claims.yaml"), Path(config["scenarios"]))
PLAYED = {study.scenario.name for study in STUDIES.selection.values()}
CLAIM_SCALES = scales(CLAIMS, {*CONFIG.scenarios, *PLAYED}, STUDIES.names())
DATASETS = {dataset_key(s.data, CONFIG.raw): s.data for s in SCENARIOS.values()}


def one_of(names):
    """A wildcard constraint that admits these names only; Snakemake would take an empty one for none at all."""
    return "|".join(re.escape(name) for name in sorted(names)) or "(?!)"


wildcard_constraints:
    scenario=one_of(SCENARIOS),
    selector=r"[a-z0-9_]+",
    seed=r"\d+",
    dataset=one_of(DATASETS),
    kind=one_of(FIGURES),


def prepared_path(name):
    """The prepared data set of a scenario."""
    return f"data/prepared/{dataset_key(SCENARIOS[name].data, CONFIG.raw)}.npz"


def reader_hash(settings):
    """The code that reads a data set."""
    reader = find_record(settings, CONFIG.raw).code.partition(":")[0]
    return code_hash("pausefl.data.sources", reader)


def partition_path(name, seed, extension="npz"):
    """The partition that all selectors of a scenario share, or its picture."""
    scenario = SCENARIOS[name]
    folder = f"{dataset_key(scenario.data, CONFIG.raw)}/{partition_key(scenario)}"
    return f"data/partitions/{folder}/seed-{seed}.{extension}"


def run_folder(row):
    """Where the files of a job are."""
    return f"{FINISHED}/runs/{row.scenario}/{row.selector}/seed-{row.seed}"


def scenario_of(wildcards):
    """A scenario whose users share the data of the partition that the wildcards name."""
    wanted = (wildcards.dataset, wildcards.partition)
    return next(
        s for s in SCENARIOS.values() if (dataset_key(s.data, CONFIG.raw), partition_key(s)) == wanted
    )


def figure_caption(name, kind):
    """What the caption of a scenario's figure or table states."""
    scenario = SCENARIOS[name]
    return caption_facts(scenario, SEEDS[name], describe_origin(scenario.data, CONFIG.raw), kind)


def figure_title(name):
    """The title of a scenario, and that its images are not the official ones where they are not."""
    scenario = SCENARIOS[name]
    substitute = scenario.data.source in CONFIG.raw.folders
    return f"{scenario.title} (re-encoded images)" if substitute else scenario.title


def code_of_job(name, selector):
    """Today's hash of the code of a job."""
    scenario = SCENARIOS[name]
    return job_code(scenario, selector, in_folder=scenario.data.source in CONFIG.raw.folders)


def job_versions(name):
    """Today's hash of the code of a scenario's jobs, by selector: runs with others were made by other code."""
    return {row.selector: code_of_job(name, row.selector) for row in EXPERIMENTS[name]}


def job_minutes(wildcards, attempt):
    """A generous limit: a dense network trains everyone in minutes, a CNN on one core takes hours."""
    return attempt * (60 if SCENARIOS[wildcards.scenario].model.name in ("fc", "linear") else 720)


def figure_paths(name, kind):
    """The files of a figure."""
    return [f"results/figures/{name}/{kind}.{extension}" for extension in ("pdf", "png", "json")]


def run_files(name):
    """Every file of every job of a scenario."""
    files = ("rounds.parquet", "ledger.parquet", "summary.json")
    return [f"{run_folder(row)}/{file}" for row in EXPERIMENTS[name] for file in files]


def selectors(name):
    """Selectors that run in a scenario."""
    return list(dict.fromkeys(row.selector for row in EXPERIMENTS[name]))


def tables(name):
    """The tables that a scenario has."""
    return tables_of(SCENARIOS[name], selectors(name))


def curves(name):
    """The kinds of figures that a scenario has."""
    return kinds_of(SCENARIOS[name], selectors(name))


def scenario_outputs(name):
    """Everything that a scenario ends in; the runs too, so that one that is lost is made again."""
    files = ["rounds.parquet", "runs.csv"]
    files += [f"{table}.{extension}" for table in tables(name) for extension in ("csv", "md", "html")]
    return [
        *run_files(name),
        *[f"results/tables/{name}/{file}" for file in files],
        *[path for kind in curves(name) for path in figure_paths(name, kind)],
        *[partition_path(name, seed, "png") for seed in SEEDS[name] if not CONFIG.published],
    ]


def leakage_figures(study):
    """The figures of leakage, and their kinds, that a study of selection has in common with its scenario."""
    figures = load_scenario(study.scenario.name, Path(config["scenarios"])).figures
    return {figure: kind for figure, kind in figures.items() if kind.startswith("leakage_")}


def leakage_places(study):
    """Where the papers have these figures, in words."""
    figures = leakage_figures(study)
    scenario = dataclasses.replace(study.scenario, figures=figures)
    return "; ".join(paper_figures(scenario, kind) for kind in dict.fromkeys(figures.values())) or "nowhere"


# What each kind of study leaves that a claim is tested on.
CLAIM_TABLES = {
    "regret": ("fits.csv", "growth.csv"),
    "comparison": ("summary.csv",),
    "runtime": ("times.csv",),
    "selection": ("rounds.parquet",),
}


def study_data(name):
    """What a study computed, and the tables made from it that claims are tested on."""
    computed = {
        "regret": REGRET_RUNS.get(name, ()),
        "optimality_gap": GAPS.get(name, ()),
        "selection": SELECTIONS.get(name, ()),
        "audit": [AUDITED.format(study=name)],
        "generalization": [],  # made in no time
    }
    kind = STUDIES.kind(name)
    data = computed[kind] if kind in computed else search_data(kind, name).values()
    return list(
        dict.fromkeys([*data, *[f"results/studies/{name}/{file}" for file in CLAIM_TABLES.get(kind, ())]])
    )


def published(path):
    """Where a file of a run or a study is published."""
    return path.replace("results/", "results/published/", 1)


def claims_runs(scale, claims=CLAIMS):
    """Rows of the experiment table that claims are tested on at a scale."""
    names, _ = places(claims, scale)
    return [row for name in sorted(names & SCENARIOS.keys()) for row in EXPERIMENTS[name]]


def claims_studies(scale, claims=CLAIMS):
    """Names of the studies that claims are tested on at a scale, be it in place of runs that there are none of."""
    scenarios, names = places(claims, scale)
    played = {STUDIES.played(name) for name in scenarios - SCENARIOS.keys()}
    return sorted((names | played) & set(STUDIES.names()))


def claims_inputs(scale, claims=CLAIMS):
    """Every run and every table of a study that claims need at a scale, as configured."""
    tables = {name: files for kind, files in CLAIM_TABLES.items() for name in getattr(STUDIES, kind)}
    scenarios = sorted({row.scenario for row in claims_runs(scale, claims)})
    return [
        *[path for name in scenarios for path in run_files(name)],
        *[
            f"{FINISHED}/studies/{name}/{file}"
            for name in claims_studies(scale, claims)
            for file in tables.get(name, ())
        ],
    ]


def claim_inputs(claim):
    """The runs, and the tables of studies, that one claim needs at the scales that the configuration has."""
    found = [claims_inputs(scale, [claim]) for scale in CLAIM_SCALES]
    return list(dict.fromkeys(path for paths in found for path in paths))


def claims_outputs(scale):
    """What is written about the claims at a scale."""
    return [f"results/claims/{scale}/claims.{extension}" for extension in ("json", "csv", "md", "html")]


def claims_asked_for(wildcards):
    """The verdicts at every scale that the configuration has, and the runs, so that one that is lost is made again."""
    if not CLAIM_SCALES:
        raise WorkflowError("no claim of config/claims.yaml is tested on what the configuration lists")
    return [path for scale in CLAIM_SCALES for path in claims_outputs(scale) + claims_inputs(scale)]


def refuse(wildcards):
    """Say why a name that is no target cannot be asked for."""
    folder = Path(config["scenarios"])
    for name in scenario_names(folder):
        scenario = load_scenario(name, folder)
        if wildcards.name in {name, *scenario.figures, *wholes(scenario.figures)}:
            raise WorkflowError(
                f"'{wildcards.name}' needs scenario '{name}', which the configuration's table does not list."
            )
    targets = {rule.name for rule in workflow.rules if not rule.output}
    raise WorkflowError(f"unknown target '{wildcards.name}'. {suggest(wildcards.name, targets)}")


# A job of the workflow reads this file again, but need not check again, nor load what checks.
if workflow.is_main_process and not CONFIG.published:
    from pausefl.federated.runnable import check_table

    checked(check_table, CONFIG)
    checked(check_table, DEMO)
    for name, scenario in SCENARIOS.items():
        n_examples = training_size(scenario.data, CONFIG.raw)
        if n_examples is not None:
            checked(check_partition, scenario, n_examples, SEEDS[name])


onstart:
    check_arrays()
    if not CONFIG.published:
        checked(check_writable, Path("data"))
    checked(check_writable, Path("results"))
    for job in workflow.dag.needrun_jobs():
        if job.rule.name == "prepare_data":
            checked(check_available, DATASETS[job.wildcards.dataset], CONFIG.raw)
