# The workflow, its configuration and finished results as one archive.
from pausefl.provenance import code_hash
from pausefl.workflow import code, paths, targets


rule write_crate:
    input:
        lambda wildcards: of_checkout(targets.of_crate(W, wildcards.crate)),
    output:
        "results/crates/{crate}.zip",
    log:
        "results/logs/crates/{crate}.log",
    benchmark:
        "results/benchmarks/crates/{crate}.tsv"
    wildcard_constraints:
        crate=paths.one_of(name for name, target in TARGETS.items() if target.reported),
    params:
        names=lambda wildcards: targets.of_crate(W, wildcards.crate),
        root=str(W.root),
        configuration=config,
        code=code_hash("pausefl.report.crate"),
        script=code.script(workflow.source_path("../scripts/crate.py")),
    script:
        "../scripts/crate.py"
