# Tables and figures of the runs of a scenario.
rule tables:
    """tables of a scenario: means over seeds, all runs, what users have spent, the authors' runs"""
    input:
        lambda w: collected(w.scenario),
    output:
        report(
            directory("results/tables/{scenario}"),
            patterns=["{content}.md"],
            caption="../report/caption.rst",
            category="Tables",
            labels={"scenario": "{scenario}", "content": "{content}"},
        ),
    log:
        "results/logs/tables/{scenario}.log",
    params:
        shown=lambda w: runs_shown(w.scenario),
        kinds=lambda w: W.tables(w.scenario),
        code=code_of("tables"),
    script:
        "../scripts/tables.py"


# One step draws all figures of a scenario, since a figure takes less time than what it imports.
for name, figures in W.figures_by_scenario.items():

    rule:
        name:
            f"figures_{name}"
        input:
            collected(name),
        output:
            expand("results/figures/{figure}.{suffix}", figure=figures, suffix=["pdf", "json"]),
            png=[
                report(f"results/figures/{figure}.png", caption="../report/caption.rst", category="Figures")
                for figure in figures
            ],
        log:
            f"results/logs/figures/{name}.log",
        params:
            shown=runs_shown(name),
            asked=[one.model_dump() for one in figures.values()],
            title=W.config.titles,
            code=code_of("figures", *(FIGURES[one.kind].code for one in figures.values())),
        script:
            "../scripts/figures.py"
