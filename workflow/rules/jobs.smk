# One federated job a row of the experiment table.


def job_minutes(wildcards, attempt):
    """A generous limit: a dense network trains everyone in minutes, a CNN on one core takes hours."""
    return attempt * (60 if SCENARIOS[wildcards.scenario].model.name == "fc" else 720)


rule job:
    input:
        data=lambda wildcards: prepared_path(wildcards.scenario),
        partition=lambda wildcards: partition_path(wildcards.scenario, wildcards.seed),
    output:
        rounds="results/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    params:
        settings=lambda wildcards: SCENARIOS[wildcards.scenario].job_settings(),
        code=code_hash("pausefl.job"),
    log:
        "results/logs/job/{scenario}/{selector}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/job/{scenario}/{selector}/seed-{seed}.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=job_minutes,
    script:
        "../scripts/job.py"
