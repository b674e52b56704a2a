# Numbers and curves of the configuration's scenarios in small files that are kept in Git, for DVC to compare.


rule write_metrics:
    """what Git keeps of the configuration's results"""
    input:
        summaries=[f"results/tables/{name}/summary.csv" for name in W.own],
        rounds=[f"results/tables/{name}/rounds.parquet" for name in W.own],
        claims=[f"results/claims/{scale}/claims.json" for scale in W.scales],
    output:
        TARGETS["metrics"].files,
    log:
        "results/logs/metrics.log",
    benchmark:
        "results/benchmarks/metrics.tsv"
    params:
        code=code_of("metrics"),
    script:
        "../scripts/metrics.py"
