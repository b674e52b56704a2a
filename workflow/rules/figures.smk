# The figures of a scenario, from its table, in one process: that starts slower than it plots.
from pausefl.workflow import code, paths, targets

# Kinds of figures differ between scenarios, and so do the files: one rule for all scenarios with the same kinds.
for figures, scenarios in targets.scenarios_by_figures(W).items():
    kinds = targets.figure_kinds(W, scenarios[0])

    rule:
        name:
            f"plot_{figures}"
        input:
            rounds="results/tables/{scenario}/rounds.parquet",
            about="results/tables/{scenario}/about.json",
        output:
            pdf=[f"results/figures/{{scenario}}/{kind}.pdf" for kind in kinds],
            png=[
                report(
                    f"results/figures/{{scenario}}/{kind}.png",
                    caption="../report/caption.rst",
                    category="Figures",
                    subcategory="{scenario}",
                    labels={"figure": kind},
                )
                for kind in kinds
            ],
            svg=[f"results/figures/{{scenario}}/{kind}.svg" for kind in kinds],
            sidecar=[f"results/figures/{{scenario}}/{kind}.json" for kind in kinds],
            numbers=[f"results/figures/{{scenario}}/{kind}.tex" for kind in kinds],
        log:
            "results/logs/figures/{scenario}.log",
        benchmark:
            "results/benchmarks/figures/{scenario}.tsv"
        wildcard_constraints:
            scenario=paths.one_of(scenarios),
        params:
            kinds=kinds,
            title=W.config.titles,
            scenario=lambda wildcards: W.settings(wildcards.scenario),
            code=code.figures(kinds),
            script=code.script(workflow.source_path("../scripts/plot_figures.py")),
        script:
            "../scripts/plot_figures.py"
