# What Git keeps of finished runs and studies, so that figures and verdicts can be made without training.
from pausefl.workflow import paths, publication

# Without output, as runs share files with those published before, and Snakemake would not see that one is missing.
for target in ("publish", "republish"):

    rule:
        name:
            target
        input:
            runs=lambda wildcards: paths.of_runs(publication.runs(W).values()),
            studies=lambda wildcards: [
                f"results/studies/{name}/{file}"
                for name, files in publication.studies(W).items()
                for file in files
            ],
        log:
            f"results/logs/{target}.log",
        params:
            runs=lambda wildcards: list(publication.runs(W)),
            studies=lambda wildcards: publication.studies(W),
            replace=target == "republish",
        script:
            "../scripts/publish.py"

    getattr(rules, target).rule.docstring = TARGETS[target].title
