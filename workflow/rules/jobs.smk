# The federated jobs of the table, each a step.
from pausefl.provenance import job_code


rule job:
    input:
        unpack(job_inputs),
    output:
        rounds="results/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    log:
        "results/logs/job/{scenario}/{selector}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/job/{scenario}/{selector}/seed-{seed}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: asked(wildcards)[1] * attempt,
        runtime=lambda wildcards, attempt: asked(wildcards)[0] * attempt,
        # If the user says how many there are (--resources gpu=N).
        gpu=lambda wildcards: int("gpu" in workflow.global_resources and trains_images(wildcards)),
    params:
        settings=lambda wildcards: W.job_scenarios[wildcards.scenario].job_settings(),
        code=lambda wildcards: job_code(W.job_scenarios[wildcards.scenario], from_folder(wildcards.selector)),
        script=code_of("job", records=()),
    script:
        "../scripts/job.py"
