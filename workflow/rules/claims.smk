# The papers' claims, judged at each scale of which the configuration, or the demo, has runs.
from pausefl.claims.load import scenarios_as_run
from pausefl.workflow import paths, targets


rule check_claims:
    input:
        tables=lambda wildcards: [f"results/tables/{name}/rounds.parquet" for name in tested(wildcards)],
        studies=lambda wildcards: of_checkout(
            [
                path
                for name in targets.claim_studies(W, wildcards.scale)
                for path in paths.study_claims(W, name)
            ]
        ),
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
        claims=[claim.model_dump(exclude_unset=True) for claim in W.claims],
        runs=lambda wildcards: [one for name in tested(wildcards) for one in W.experiments[name]],
        scenarios=lambda wildcards: {name: W.scenarios[name].job_settings() for name in tested(wildcards)},
        logs={name: one.as_dict() for name, one in scenarios_as_run(W.claims, *W.folders).items()},
        studies=lambda wildcards: {
            name: (W.studies[name].kind, W.studies[name].settings())
            for name in targets.claim_studies(W, wildcards.scale)
        },
        published=W.config.published,
        code=code_of("claims"),
    script:
        "../scripts/claims.py"
