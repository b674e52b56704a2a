# Federated jobs, one a step; all runs of a scenario in the three files that everything else reads; what Git keeps of them.
rule job:
    """one federated job: a selector in a scenario under a seed"""
    input:
        data=lambda w: f"data/prepared/{W.dataset(w.scenario)}.npz",
        partition=lambda w: W.partition_file(w.scenario),  # of {seed}
        # The run under another reward that trains the same, if there is one: its training is taken over.
        trained_by=lambda w: targets.trained_by(W, targets.job_of(w)),
    output:
        rounds="results/runs/{scenario}/{selector}/seed-{seed}/rounds.parquet",
        ledger="results/runs/{scenario}/{selector}/seed-{seed}/ledger.parquet",
        summary="results/runs/{scenario}/{selector}/seed-{seed}/summary.json",
    log:
        "results/logs/job/{scenario}/{selector}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/job/{scenario}/{selector}/seed-{seed}.tsv"
    wildcard_constraints:
        scenario=one_of(W.job_scenarios),
    resources:
        mem_mb=lambda w, attempt: plan.memory_mb(W, w.scenario) * attempt,
        runtime=lambda w, attempt: plan.minutes(W, targets.job_of(w)) * attempt,
    params:
        settings=lambda w: W.job_scenarios[w.scenario].job_settings(),
        code=lambda w: job_code(W.job_scenarios[w.scenario], from_folder(w.selector)),
        script=code_of("job", parts=()),
    script:
        "../scripts/job.py"


rule collect:
    """all runs of a scenario in three files"""
    input:
        lambda w: targets.run_files(W.experiments[w.scenario]),
    output:
        rounds="results/collected/{scenario}/rounds.parquet",
        ledger="results/collected/{scenario}/ledger.parquet",
        summaries="results/collected/{scenario}/runs.jsonl",
    log:
        "results/logs/collect/{scenario}.log",
    params:
        settings=lambda w: W.scenarios[w.scenario].job_settings(),
        code=code_of("collect"),
    script:
        "../scripts/collect.py"


# Without output: what is published already stays, and Snakemake would not see that a run is missing.
rule publish:
    """keep finished runs and studies in results/published, which Git has"""
    input:
        runs=expand("results/collected/{scenario}/runs.jsonl", scenario=W.own),
        studies=expand("results/studies/{study}", study=W.reproduced),
    log:
        "results/logs/publish.log",
    localrule: True
    script:
        "../scripts/publish.py"
