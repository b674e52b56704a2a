# One federated job a row of the experiment table.


rule job:
    input:
        data=lambda wildcards: prepared_path(wildcards.scenario),
        partition=lambda wildcards: partition_path(wildcards.scenario, wildcards.seed),
    output:
        rounds="results/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    log:
        "results/logs/job/{scenario}/{selector}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/job/{scenario}/{selector}/seed-{seed}.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=job_minutes,
        gpu=job_gpus,
    params:
        settings=lambda wildcards: SCENARIOS[wildcards.scenario].job_settings(),
        code=lambda wildcards: code_of_job(wildcards.scenario, wildcards.selector),
    script:
        "../scripts/job.py"
