# What Git keeps of finished runs and studies, so that figures and verdicts can be made without training.
from pausefl.provenance import code_hash


rule publish_run:
    input:
        rounds="results/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    output:
        rounds="results/published/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/published/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/published/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    log:
        "results/logs/publish/{scenario}/{selector}/seed-{seed}.log",
    params:
        code=code_hash("pausefl.results.published"),
    script:
        "../scripts/publish.py"


rule publish_study:
    input:
        "results/studies/{study}/{file}",
    output:
        "results/published/studies/{study}/{file}",
    log:
        "results/logs/publish/{study}/{file}.log",
    wildcard_constraints:
        file=r"[\w/-]+\.(parquet|csv)",
    params:
        code=code_hash("pausefl.results.published"),
    script:
        "../scripts/publish.py"
