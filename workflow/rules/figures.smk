# One figure a scenario and kind, drawn from the scenario's table. A rule for each kind, as the path of a
# caption holds no wildcards.

for curve in FIGURES:

    rule:
        name:
            f"draw_{curve}"
        input:
            rounds="results/tables/{scenario}/rounds.parquet",
            summaries=lambda wildcards: [
                f"{run_folder(row)}/summary.json" for row in EXPERIMENTS[wildcards.scenario]
            ],
        output:
            pdf="results/figures/{scenario}/{kind}.pdf",
            png=report(
                "results/figures/{scenario}/{kind}.png",
                caption=f"../report/{curve}.rst",
                category="Figures",
                subcategory="{scenario}",
                labels={"figure": "{kind}"},
            ),
            sidecar="results/figures/{scenario}/{kind}.json",
        log:
            "results/logs/figure/{scenario}/{kind}.log",
        benchmark:
            "results/benchmarks/figure/{scenario}/{kind}.tsv"
        wildcard_constraints:
            kind=curve,
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 10 * attempt,
        params:
            scenario=lambda wildcards: SCENARIOS[wildcards.scenario].as_dict()
            | {"title": figure_title(wildcards.scenario)},
            caption=lambda wildcards: figure_caption(wildcards.scenario, wildcards.kind),
            notes=lambda wildcards: SidecarNotes(
                f"results/figures/{wildcards.scenario}/{wildcards.kind}.json"
            ),
            versions=lambda wildcards: job_versions(wildcards.scenario),
            code=code_hash("pausefl.figures.kinds"),
        script:
            "../scripts/figure.py"
