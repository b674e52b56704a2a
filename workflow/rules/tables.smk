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
            labels={"scenario": "{scenario}"},
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
        title=lambda wildcards: figure_title(wildcards.scenario),
        caption=lambda wildcards: figure_caption(wildcards.scenario, "summary"),
        code=code_hash("pausefl.tables", "pausefl.figures.style"),
    script:
        "../scripts/table.py"
