# What Git keeps of finished runs and studies, so that figures and verdicts can be made without training.
from pausefl.provenance import code_hash
from pausefl.workflow import paths, studies


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


rule publish_code:
    input:
        lambda wildcards: paths.study_codes(W, wildcards.study),
    output:
        "results/published/studies/{study}/code.json",
    log:
        "results/logs/publish/{study}/code.log",
    params:
        kind=lambda wildcards: W.studies.kind(wildcards.study),
        study=lambda wildcards: studies.settings(W, wildcards.study),
        code=code_hash("pausefl.results.reading:study_codes"),
    script:
        "../scripts/publish_code.py"
