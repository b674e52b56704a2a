# The tables of a scenario: all rounds, one line for each run, means over seeds, what users have spent, the authors' runs.
from pausefl.workflow import checks, code, paths, targets

# What there are tables of differs, and so do the files: one rule for all scenarios with the same tables.
for tables, scenarios in targets.scenarios_by_tables(W).items():
    kinds = paths.table_kinds(W, scenarios[0])

    rule:
        name:
            tables
        input:
            lambda wildcards: of_checkout(checked(checks.run_files, W, wildcards.scenario)),
        output:
            rounds="results/tables/{scenario}/rounds.parquet",
            runs="results/tables/{scenario}/runs.csv",
            about="results/tables/{scenario}/about.json",
            csv=[f"results/tables/{{scenario}}/{kind}.csv" for kind in kinds],
            text=[
                report(
                    f"results/tables/{{scenario}}/{kind}.md",
                    caption="../report/caption.rst",
                    category="Tables",
                    labels={"scenario": "{scenario}", "content": kind},
                )
                for kind in kinds
            ],
            latex=[f"results/tables/{{scenario}}/{kind}.tex" for kind in kinds],
        log:
            "results/logs/table/{scenario}.log",
        benchmark:
            "results/benchmarks/table/{scenario}.tsv"
        wildcard_constraints:
            scenario=paths.one_of(scenarios),
        params:
            kinds=kinds,
            runs=lambda wildcards: paths.run_folders(W, wildcards.scenario),
            scenario=lambda wildcards: W.scenarios[wildcards.scenario].as_dict(),
            versions=lambda wildcards: code.jobs(W, wildcards.scenario),
            code=code.tables(kinds),
            script=code.script(workflow.source_path("../scripts/table.py")),
        script:
            "../scripts/table.py"
