# One federated job for each row of the experiment table.
from pausefl.workflow import code, paths, plan


rule job:
    input:
        data=lambda wildcards: paths.prepared(W, wildcards.scenario),
        partition=lambda wildcards: paths.partition(W, wildcards.scenario, wildcards.seed),
    output:
        rounds="results/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    log:
        "results/logs/job/{scenario}/{selector}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/job/{scenario}/{selector}/seed-{seed}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: plan.minutes(W.scenarios[wildcards.scenario]) * attempt,
        # If the user says how many there are (--resources gpu=N).
        gpu=lambda wildcards: int(
            "gpu" in workflow.global_resources and plan.wants_gpu(W.scenarios[wildcards.scenario])
        ),
    params:
        settings=lambda wildcards: W.scenarios[wildcards.scenario].job_settings(),
        code=lambda wildcards: code.job(W, wildcards.scenario, wildcards.selector),
    script:
        "../scripts/job.py"
