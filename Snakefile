# Root of the workflow: what can be asked for is listed by `snakemake --list-target-rules`.
from snakemake.utils import min_version

min_version("9.19")


configfile: "config/config.yaml"


# Rules that name software environments run in this container under `--software-deployment-method apptainer`.
container: "docker://python:3.12-slim"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/cluster.smk"


# With published runs there is nothing that could train.
if not CONFIG.published:

    include: "workflow/rules/data.smk"
    include: "workflow/rules/jobs.smk"


include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/regret.smk"
include: "workflow/rules/searches.smk"
include: "workflow/rules/audit.smk"
include: "workflow/rules/generalization.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/targets.smk"
include: "workflow/rules/contents.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/metrics.smk"


if not CONFIG.published:

    include: "workflow/rules/publish.smk"


# Here and not in an included file: an include leaves the default target as it was.
rule all:
    default_target: True
    input:
        [scenario_outputs(name) for name in CONFIG.scenarios],
        list(STUDY_OUTPUTS.values()),
        [claims_outputs(scale) for scale in CLAIM_SCALES],
        "results/report/all.html",
        METRICS,
    localrule: True
