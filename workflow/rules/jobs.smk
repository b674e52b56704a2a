# One federated job for each experiment of the table.
from pausefl.workflow import code, paths
from pausefl.workflow.paths import experiment_of


rule job:
    input:
        unpack(lambda wildcards: paths.job_inputs(W, experiment_of(wildcards))),
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
        gpu=(
            (lambda wildcards: int(model(wildcards).family == "convolutional"))
            if "gpu" in workflow.global_resources
            else 0
        ),
    params:
        settings=lambda wildcards: W.job_scenarios[wildcards.scenario].job_settings(),
        code=lambda wildcards: code.job(W, experiment_of(wildcards)),
        script=code.script(workflow.source_path("../scripts/job.py")),
    script:
        "../scripts/job.py"
