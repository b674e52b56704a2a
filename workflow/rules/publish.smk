# What Git keeps of finished runs and studies, so that figures and verdicts can be made without training.
from pausefl.workflow import publication, targets

# Without output, as runs share files with those published before, and Snakemake would not see that one is missing.
for target, docstring in targets.PUBLISHING.items():

    rule:
        name:
            target
        input:
            runs=lambda wildcards: publication.run_files(W),
            studies=lambda wildcards: publication.study_files(W),
        log:
            f"results/logs/{target}.log",
        params:
            runs=lambda wildcards: publication.runs(W),
            studies=lambda wildcards: publication.studies(W),
            replace=target == "republish",
        script:
            "../scripts/publish.py"

    getattr(rules, target).rule.docstring = docstring
