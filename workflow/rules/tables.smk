# The tables of a scenario: all rounds, one line for each run, means over seeds, what users have spent, the authors' runs.
from pausefl.workflow import paths, targets

# What there are tables of differs, and so do the files: one rule for all scenarios with the same tables.
for tables, scenarios in targets.scenarios_by_tables(W).items():
    kinds = paths.table_kinds(W, scenarios[0])
    places = at_once(scenarios)
    folders = [f"results/tables/{place}" for place in places]

    rule:
        name:
            tables
        input:
            partial(runs_of, places),
        output:
            rounds=[f"{folder}/rounds.parquet" for folder in folders],
            runs=[f"{folder}/runs.csv" for folder in folders],
            about=[f"{folder}/about.json" for folder in folders],
            csv=[f"{folder}/{kind}.csv" for folder in folders for kind in kinds],
            text=[
                report(
                    f"results/tables/{place}/{kind}.md",
                    caption="../report/caption.rst",
                    category="Tables",
                    labels={"scenario": place, "content": kind},
                )
                for place in places
                for kind in kinds
            ],
            latex=[f"{folder}/{kind}.tex" for folder in folders for kind in kinds],
        log:
            f"results/logs/table/{places[0]}.log",
        benchmark:
            f"results/benchmarks/table/{places[0]}.tsv"
        wildcard_constraints:
            scenario=paths.one_of(scenarios),
        params:
            kinds=kinds,
            scenarios=partial(to_tabulate, places),
            code=code_of("table"),
        script:
            "../scripts/table.py"
