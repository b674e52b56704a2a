# One page with everything, or with one scenario or study.
from pausefl.workflow import contents, paths


rule write_report:
    input:
        lambda wildcards: of_checkout(contents.inputs(W, wildcards.report)),
    output:
        "results/report/{report}.html",
    log:
        "results/logs/report/{report}.log",
    benchmark:
        "results/benchmarks/report/{report}.tsv"
    wildcard_constraints:
        report=paths.one_of(name for name, target in TARGETS.items() if target.reported),
    params:
        names=lambda wildcards: contents.inputs(W, wildcards.report),
        parts=lambda wildcards: contents.parts(W, wildcards.report),
        content=lambda wildcards: contents.digest(W, wildcards.report),
        code=code_of("report"),
    script:
        "../scripts/report.py"
