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


rule figures:
    """a figure of a scenario, with a JSON file that says what it was made from"""
    input:
        lambda w: collected(W.figures[w.figure].scenario),
    output:
        multiext("results/figures/{figure}", ".pdf", ".json"),
        png=report("results/figures/{figure}.png", caption="../report/caption.rst", category="Figures"),
    log:
        "results/logs/figures/{figure}.log",
    params:
        shown=lambda w: runs_shown(W.figures[w.figure].scenario),
        asked=lambda w: W.figures[w.figure].asked.model_dump(),
        title=W.config.titles,
        code=lambda w: code_of("figures", FIGURES[W.figures[w.figure].asked.kind].code),
    script:
        "../scripts/figures.py"
