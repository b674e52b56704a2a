# One page with everything, or with one scenario or study.


rule write_report:
    input:
        report_inputs,
    output:
        "results/report/{report}.html",
    log:
        "results/logs/report/{report}.log",
    benchmark:
        "results/benchmarks/report/{report}.tsv"
    wildcard_constraints:
        report=one_of(REPORTS),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        sources=lambda wildcards: report_sources(wildcards.report),
        template=REPORT_TEMPLATE,
        code=code_hash("pausefl.report.page"),
    script:
        "../scripts/report.py"
