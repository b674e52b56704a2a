# Numbers and curves of the configuration's scenarios in small files that are kept in Git, for DVC to compare.
from pausefl.provenance import code_hash
from pausefl.workflow import code


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
        code=code_hash("pausefl.results.dvc_metrics"),
        script=code.script(workflow.source_path("../scripts/metrics.py")),
    script:
        "../scripts/metrics.py"
