# What is kept in Git of finished runs and studies, so that figures and verdicts can be made without training.


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
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
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
        study=one_of(STUDIES.names()),
        file=r"[\w/-]+\.(parquet|csv)",
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        code=code_hash("pausefl.results.published"),
    script:
        "../scripts/publish.py"


rule publish:
    input:
        [published(path) for name in CONFIG.scenarios for path in run_files(name)],
        [published(path) for name in STUDIES.names() for path in study_data(name)],
