# All runs of a scenario in one tidy table, and one line a run.


rule table:
    input:
        lambda wildcards: run_files(wildcards.scenario),
    output:
        rounds="results/tables/{scenario}/rounds.parquet",
        runs="results/tables/{scenario}/runs.csv",
        summary="results/tables/{scenario}/summary.csv",
        text="results/tables/{scenario}/summary.md",
        page=report(
            "results/tables/{scenario}/summary.html",
            caption="../report/summary.rst",
            category="Tables",
            labels={"scenario": "{scenario}", "content": "summary"},
        ),
    log:
        "results/logs/table/{scenario}.log",
    benchmark:
        "results/benchmarks/table/{scenario}.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        runs=lambda wildcards: {row: run_folder(row) for row in EXPERIMENTS[wildcards.scenario]},
        scale=lambda wildcards: scale_note(SCENARIOS[wildcards.scenario]),
        title=lambda wildcards: figure_title(wildcards.scenario),
        caption=lambda wildcards: figure_caption(wildcards.scenario, "summary"),
        versions=lambda wildcards: job_versions(wildcards.scenario),
        code=code_hash("pausefl.results.tables", "pausefl.figures.notes", "pausefl.figures.style"),
    script:
        "../scripts/table.py"


# What users have spent. A rule of its own: composing privacy-loss distributions is not for every edit of a plot.
rule privacy_table:
    input:
        lambda wildcards: [
            f"{run_folder(row)}/{file}"
            for row in EXPERIMENTS[wildcards.scenario]
            for file in ("ledger.parquet", "summary.json")
        ],
    output:
        table="results/tables/{scenario}/privacy.csv",
        text="results/tables/{scenario}/privacy.md",
        page=report(
            "results/tables/{scenario}/privacy.html",
            caption="../report/privacy.rst",
            category="Tables",
            labels={"scenario": "{scenario}", "content": "privacy"},
        ),
    log:
        "results/logs/privacy_table/{scenario}.log",
    benchmark:
        "results/benchmarks/privacy_table/{scenario}.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        runs=lambda wildcards: {row: run_folder(row) for row in EXPERIMENTS[wildcards.scenario]},
        scenario=lambda wildcards: SCENARIOS[wildcards.scenario].as_dict(),
        title=lambda wildcards: figure_title(wildcards.scenario),
        caption=lambda wildcards: figure_caption(wildcards.scenario, "privacy"),
        versions=lambda wildcards: job_versions(wildcards.scenario),
        code=code_hash("pausefl.results.privacy_table", "pausefl.figures.notes", "pausefl.figures.style", "pausefl.results.tables"),
    script:
        "../scripts/privacy_table.py"
