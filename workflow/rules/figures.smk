# The figures of a scenario, from its table, in one process: that starts slower than it plots.
from pausefl.registry import FIGURES
from pausefl.workflow import paths, targets

# Kinds of figures differ between scenarios, and so do the files: one rule for all scenarios with the same kinds.
for figures, scenarios in targets.scenarios_by_figures(W).items():
    kinds = targets.figure_kinds(W, scenarios[0])
    places = at_once(scenarios)
    stems = [f"results/figures/{place}/{kind}" for place in places for kind in kinds]

    rule:
        name:
            f"plot_{figures}"
        input:
            rounds=[f"results/tables/{place}/rounds.parquet" for place in places],
            about=[f"results/tables/{place}/about.json" for place in places],
        output:
            pdf=[f"{stem}.pdf" for stem in stems],
            png=[
                report(
                    f"results/figures/{place}/{kind}.png",
                    caption="../report/caption.rst",
                    category="Figures",
                    subcategory=place,
                    labels={"figure": kind},
                )
                for place in places
                for kind in kinds
            ],
            sidecar=[f"{stem}.json" for stem in stems],
        log:
            f"results/logs/figures/{places[0]}.log",
        benchmark:
            f"results/benchmarks/figures/{places[0]}.tsv"
        wildcard_constraints:
            scenario=paths.one_of(scenarios),
        params:
            kinds=kinds,
            title=W.config.titles,
            scenarios=partial(to_plot, places),
            code=code_of("plot_figures", *(FIGURES[kind].code for kind in kinds)),
        script:
            "../scripts/plot_figures.py"
