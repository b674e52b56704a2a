# The papers' claims, judged at each scale of which the configuration, or the demo, has runs.
from pausefl.registry.claims import CLAIM_TESTS, QUANTITIES


rule check_claims:
    input:
        lambda wildcards: claims_inputs(wildcards.scale),
    output:
        json="results/claims/{scale}/claims.json",
        table="results/claims/{scale}/claims.csv",
        text="results/claims/{scale}/claims.md",
        page=report(
            "results/claims/{scale}/claims.html",
            caption="../report/claims.rst",
            category="Claims",
            labels={"scale": "{scale}"},
        ),
    log:
        "results/logs/claims/{scale}.log",
    benchmark:
        "results/benchmarks/claims/{scale}.tsv"
    wildcard_constraints:
        scale=one_of(scales(CLAIMS, {*SCENARIOS, *PLAYED}, STUDIES.names())),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        claims=plain(CLAIMS),
        runs=lambda wildcards: claims_runs(wildcards.scale),
        scenarios=lambda wildcards: {
            row.scenario: SCENARIOS[row.scenario].job_settings() for row in claims_runs(wildcards.scale)
        },
        studies=lambda wildcards: claims_studies(wildcards.scale),
        finished=lambda wildcards: FINISHED,
        code=code_hash(
            "pausefl.claims.page",
            *sorted(
                {record.code.partition(":")[0] for record in (*CLAIM_TESTS.values(), *QUANTITIES.values())}
            ),
        ),
    script:
        "../scripts/claims.py"
