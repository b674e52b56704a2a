# One figure a scenario and kind, drawn from the scenario's table.


def figure_paths(name, kind):
    """The files of a figure."""
    return [f"results/figures/{name}/{kind}.{extension}" for extension in ("pdf", "png", "json")]


rule figure:
    input:
        rounds="results/tables/{scenario}/rounds.parquet",
        summaries=lambda wildcards: [
            f"{run_folder(row)}/summary.json" for row in EXPERIMENTS[wildcards.scenario]
        ],
    output:
        pdf="results/figures/{scenario}/{kind}.pdf",
        png=report(
            "results/figures/{scenario}/{kind}.png",
            caption="../report/{kind}.rst",
            category="Figures",
            subcategory="{scenario}",
            labels={"figure": "{kind}"},
        ),
        sidecar="results/figures/{scenario}/{kind}.json",
    params:
        scenario=lambda wildcards: SCENARIOS[wildcards.scenario].as_dict(),
        caption=lambda wildcards: figure_caption(wildcards.scenario, wildcards.kind),
        code=code_hash("pausefl.figures.curves"),
    log:
        "results/logs/figure/{scenario}/{kind}.log",
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    script:
        "../scripts/figure.py"
