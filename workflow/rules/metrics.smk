# Numbers and curves of the configuration's scenarios in small files that are kept in Git, for DVC to compare.
METRICS = [
    *[
        f"results/metrics/{name}/{selector}.json"
        for name in CONFIG.scenarios
        for selector in sorted({row.selector for row in EXPERIMENTS[name]})
    ],
    *[f"results/metrics/claims/{scale}.json" for scale in CLAIM_SCALES],
    *[f"results/plots/{name}.csv" for name in CONFIG.scenarios],
]


rule write_metrics:
    input:
        summaries=[f"results/tables/{name}/summary.csv" for name in CONFIG.scenarios],
        rounds=[f"results/tables/{name}/rounds.parquet" for name in CONFIG.scenarios],
        claims=[f"results/claims/{scale}/claims.json" for scale in CLAIM_SCALES],
    output:
        METRICS,
    log:
        "results/logs/metrics.log",
    benchmark:
        "results/benchmarks/metrics.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        code=code_hash("pausefl.results.dvc_metrics"),
    script:
        "../scripts/metrics.py"
