# The figures of a scenario, from its table.
from pausefl.figures.notes import SidecarNotes
from pausefl.registry import FIGURES
from pausefl.workflow import captions, code, paths


rule plot_figure:
    input:
        rounds="results/tables/{scenario}/rounds.parquet",
        summaries=lambda wildcards: paths.run_files(W, wildcards.scenario, ["summary.json"]),
    output:
        pdf="results/figures/{scenario}/{kind}.pdf",
        png=report(
            "results/figures/{scenario}/{kind}.png",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{scenario}",
            labels={"figure": "{kind}"},
        ),
        svg="results/figures/{scenario}/{kind}.svg",
        sidecar="results/figures/{scenario}/{kind}.json",
    log:
        "results/logs/figure/{scenario}/{kind}.log",
    benchmark:
        "results/benchmarks/figure/{scenario}/{kind}.tsv"
    wildcard_constraints:
        kind=paths.one_of(FIGURES),
    params:
        scenario=lambda wildcards: captions.settings(W, wildcards.scenario),
        caption=lambda wildcards: captions.of_scenario(W, wildcards.scenario, wildcards.kind),
        notes=lambda wildcards: SidecarNotes(f"results/figures/{wildcards.scenario}/{wildcards.kind}.json"),
        versions=lambda wildcards: code.jobs(W, wildcards.scenario),
        code=lambda wildcards: code.figure(wildcards.kind),
    script:
        "../scripts/plot_figure.py"
