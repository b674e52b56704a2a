# One federated job for each experiment of the table; small ones several in a process.
from pausefl.workflow import batches, code, paths
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


def jobs_of_batch(wildcards):
    """The small jobs of a scenario and seed."""
    return batches.batches(W)[wildcards.scenario, int(wildcards.seed)]


# Each number and choice of selectors has other files, so each has a rule.
for name, (selectors, scenarios, seeds) in batches.rules(W).items():
    runs = [f"results/runs/{{scenario}}/{selector}/seed-{{seed}}" for selector in selectors]

    rule:
        name:
            name
        input:
            unpack(lambda wildcards: batches.inputs(W, jobs_of_batch(wildcards))),
        # Not removed when the step starts: it makes what is missing (`pausefl.workflow.batches`).
        output:
            update(paths.of_runs(runs)),
        log:
            "results/logs/jobs/{scenario}/seed-{seed}.log",
        benchmark:
            "results/benchmarks/jobs/{scenario}/seed-{seed}.tsv"
        wildcard_constraints:
            scenario=paths.one_of(scenarios),
            seed=paths.one_of(map(str, seeds)),
        resources:
            mem_mb=lambda wildcards, attempt: plan.asked(W, jobs_of_batch(wildcards), RATES)[1] * attempt,
            runtime=lambda wildcards, attempt: plan.asked(W, jobs_of_batch(wildcards), RATES)[0] * attempt,
            gpu=(
                (lambda wildcards: int(model(wildcards).family == "convolutional"))
                if "gpu" in workflow.global_resources
                else 0
            ),
        params:
            settings=lambda wildcards: W.job_scenarios[wildcards.scenario].job_settings(),
            code=lambda wildcards: [code.job(W, job) for job in jobs_of_batch(wildcards)],
            script=code.script(workflow.source_path("../scripts/jobs.py")),
        script:
            "../scripts/jobs.py"

    # Instead of a process for each.
    workflow.ruleorder(name, "job")
