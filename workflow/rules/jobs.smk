# One federated job for each experiment of the table; small ones several in a process.
from pausefl.registry.own import as_folder
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


# Each choice of selectors has other files, so each has a rule.
for name, own in batches.rules(W).items():
    selectors = [as_folder(selector) for selector in own.selectors]
    runs = [f"results/runs/{{scenario}}/{selector}/seed-{{seed}}" for selector in selectors]
    about = f"{{scenario}}/{selectors[0]}_and_{len(runs) - 1}_more/seed-{{seed}}"

    rule:
        name:
            name
        input:
            unpack(lambda wildcards, own=own: batches.inputs(W, own.jobs(wildcards))),
        # Not removed when the step starts: it makes what is missing (`pausefl.workflow.batches`).
        output:
            update(paths.of_runs(runs)),
        log:
            f"results/logs/jobs/{about}.log",
        benchmark:
            f"results/benchmarks/jobs/{about}.tsv"
        wildcard_constraints:
            scenario=paths.one_of(own.scenarios),
            seed=paths.one_of(map(str, own.seeds)),
        resources:
            mem_mb=lambda wildcards, attempt, own=own: plan.asked(W, own.jobs(wildcards), RATES)[1] * attempt,
            runtime=lambda wildcards, attempt, own=own: plan.asked(W, own.jobs(wildcards), RATES)[0] * attempt,
            gpu=(
                (lambda wildcards: int(model(wildcards).family == "convolutional"))
                if "gpu" in workflow.global_resources
                else 0
            ),
        params:
            settings=lambda wildcards: W.job_scenarios[wildcards.scenario].job_settings(),
            code=lambda wildcards, own=own: [code.job(W, job) for job in own.jobs(wildcards)],
            script=code.script(workflow.source_path("../scripts/jobs.py")),
        script:
            "../scripts/jobs.py"

    # Instead of a process for each.
    workflow.ruleorder(name, "job")
