# All runs of a scenario in one tidy table, one line for each run, and what users have spent.
from pausefl.figures.captions import protected
from pausefl.figures.notes import scale_note
from pausefl.registry.figures import ARCHIVED
from pausefl.workflow import captions, code, paths


rule table:
    input:
        lambda wildcards: paths.run_files(W, wildcards.scenario),
    output:
        rounds="results/tables/{scenario}/rounds.parquet",
        runs="results/tables/{scenario}/runs.csv",
        summary="results/tables/{scenario}/summary.csv",
        text=report(
            "results/tables/{scenario}/summary.md",
            caption="../report/figure.rst",
            category="Tables",
            labels={"scenario": "{scenario}", "content": "summary"},
        ),
    log:
        "results/logs/table/{scenario}.log",
    benchmark:
        "results/benchmarks/table/{scenario}.tsv"
    params:
        runs=lambda wildcards: paths.run_folders(W, wildcards.scenario),
        settings=lambda wildcards: W.scenarios[wildcards.scenario].job_settings(),
        scale=lambda wildcards: scale_note(W.scenarios[wildcards.scenario]),
        protected=lambda wildcards: protected(W.scenarios[wildcards.scenario]),
        caption=lambda wildcards: captions.of_scenario(W, wildcards.scenario, "summary"),
        versions=lambda wildcards: code.jobs(W, wildcards.scenario),
        code=code.summary(),
    script:
        "../scripts/table.py"


# A rule of its own: to compose privacy-loss distributions takes long, and an edit of a plot does not change them.
rule privacy_table:
    input:
        lambda wildcards: paths.run_files(W, wildcards.scenario, ["ledger.parquet", "summary.json"]),
    output:
        table="results/tables/{scenario}/privacy.csv",
        text=report(
            "results/tables/{scenario}/privacy.md",
            caption="../report/figure.rst",
            category="Tables",
            labels={"scenario": "{scenario}", "content": "privacy"},
        ),
    log:
        "results/logs/privacy_table/{scenario}.log",
    benchmark:
        "results/benchmarks/privacy_table/{scenario}.tsv"
    params:
        runs=lambda wildcards: paths.run_folders(W, wildcards.scenario),
        scenario=lambda wildcards: W.scenarios[wildcards.scenario].as_dict(),
        caption=lambda wildcards: captions.of_scenario(W, wildcards.scenario, "privacy"),
        versions=lambda wildcards: code.jobs(W, wildcards.scenario),
        code=code.privacy(),
    script:
        "../scripts/privacy_table.py"


rule authors_table:
    input:
        "results/tables/{scenario}/rounds.parquet",
    output:
        table="results/tables/{scenario}/authors.csv",
        text=report(
            "results/tables/{scenario}/authors.md",
            caption="../report/figure.rst",
            category="Tables",
            labels={"scenario": "{scenario}", "content": "authors"},
        ),
    log:
        "results/logs/authors_table/{scenario}.log",
    benchmark:
        "results/benchmarks/authors_table/{scenario}.tsv"
    wildcard_constraints:
        scenario=paths.one_of(ARCHIVED),
    params:
        scenario=lambda wildcards: W.scenarios[wildcards.scenario].as_dict(),
        caption=lambda wildcards: captions.of_scenario(W, wildcards.scenario, "authors"),
        code=code.authors(),
    script:
        "../scripts/authors_table.py"
