# What is kept in Git of finished runs and studies, so that figures and verdicts can be made without training.


def study_data(name):
    """What a study computed, and the tables made from it that claims are tested on."""
    computed = {
        "regret": REGRET_RUNS.get(name, ()),
        "gap": [f"results/studies/{name}/gap.csv"],
        "audit": [f"results/studies/{name}/audit.csv"],
    }
    kind = next(kind for kind in vars(STUDIES) if name in getattr(STUDIES, kind))
    data = computed.get(kind) or search_data(kind, name).values()
    return list(
        dict.fromkeys([*data, *[f"results/studies/{name}/{file}" for file in CLAIM_TABLES.get(kind, ())]])
    )


def published(path):
    """Where a file of a run or a study is published."""
    return path.replace("results/", "results/published/", 1)


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
        code=code_hash("pausefl.published"),
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
        code=code_hash("pausefl.published"),
    script:
        "../scripts/publish.py"


rule publish:
    input:
        [published(path) for name in CONFIG.scenarios for path in run_files(name)],
        [published(path) for name in STUDIES.names() for path in study_data(name)],
