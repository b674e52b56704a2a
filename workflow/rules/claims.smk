# The papers' claims, judged at each scale of which the configuration, or the demo, has runs.
from pausefl.workflow import code, paths, targets


rule check_claims:
    input:
        tables=lambda wildcards: list(tables_of_claims(wildcards).values()),
        studies=lambda wildcards: [
            path
            for name in targets.claim_studies(W, wildcards.scale)
            for path in paths.study_claims(W, name)
        ],
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
        runs=lambda wildcards: [one for name in tables_of_claims(wildcards) for one in W.experiments[name]],
        tables=tables_of_claims,
        scenarios=lambda wildcards: {
            name: W.scenarios[name].job_settings() for name in tables_of_claims(wildcards)
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
        script=code.script(workflow.source_path("../scripts/claims.py")),
    script:
        "../scripts/claims.py"
