# The federated jobs of the table: small ones several in a process, each other one in its own.
from pausefl.workflow import batches, code, paths

# Each choice of small jobs has other files, so each has a rule.
for name, own in batches.rules(W).items():

    rule:
        name:
            name
        input:
            unpack(lambda wildcards, own=own: batches.inputs(W, own.jobs(wildcards))),
        # Not removed when the step starts: it makes what is missing (`pausefl.workflow.batches`).
        output:
            update(paths.of_runs(own.runs)),
        log:
            f"results/logs/{name.partition('_')[0]}/{own.about}.log",
        benchmark:
            f"results/benchmarks/{name.partition('_')[0]}/{own.about}.tsv"
        wildcard_constraints:
            **own.constraints,
        resources:
            mem_mb=lambda wildcards, attempt, own=own: asked(own.jobs(wildcards))[1] * attempt,
            runtime=lambda wildcards, attempt, own=own: asked(own.jobs(wildcards))[0] * attempt,
            # If the user says how many there are (--resources gpu=N).
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

    if own.selectors:  # rather than a process for each
        workflow.ruleorder(name, batches.JOB)
