# The papers' claims, judged at each scale of which the configuration, or the demo, has runs.
from pausefl.workflow import code, paths, targets


rule check_claims:
    input:
        tables=lambda wildcards: list(targets.claim_tables(W, wildcards.scale).values()),
        studies=lambda wildcards: targets.claim_study_files(W, wildcards.scale),
    output:
        json="results/claims/{scale}/claims.json",
        table="results/claims/{scale}/claims.csv",
        text=report(
            "results/claims/{scale}/claims.md",
            caption="../report/caption.rst",
            category="Claims",
            labels={"scale": "{scale}"},
        ),
    log:
        "results/logs/claims/{scale}.log",
    benchmark:
        "results/benchmarks/claims/{scale}.tsv"
    wildcard_constraints:
        scale=paths.one_of({*W.scales, *W.demo_scales}),
    params:
        claims=[claim.model_dump() for claim in W.claims],
        runs=lambda wildcards: targets.claim_rows(W, wildcards.scale),
        tables=lambda wildcards: targets.claim_tables(W, wildcards.scale),
        scenarios=lambda wildcards: {
            row.scenario: W.scenarios[row.scenario].job_settings()
            for row in targets.claim_rows(W, wildcards.scale)
        },
        studies=lambda wildcards: targets.claim_studies(W, wildcards.scale),
        files=lambda wildcards: {
            "claims": str(W.file_of_claims(W.root)),
            "scenarios": str(W.folders[0]),
            "shipped": str(W.folders[1]),
            "studies": None if W.config.studies is None else str(W.config.studies),
            "finished": paths.finished(W),
        },
        published=W.config.published,
        code=code.claims(),
        script=code.script(W, "claims"),
    script:
        "../scripts/claims.py"
