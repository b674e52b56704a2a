# What stands on all runs and studies: verdicts on claims, six figures at a glance, a page with everything, numbers for DVC.
rule claims:
    """verdicts on the papers' claims at one scale"""
    input:
        lambda w: local_if_published(targets.claim_inputs(W, w.scale)),
    output:
        "results/claims/{scale}/claims.json",
        text=report("results/claims/{scale}/claims.md", caption="../report/caption.rst", category="Claims"),
    log:
        "results/logs/claims/{scale}.log",
    params:
        tested=lambda w: report_parts.tested_on(W, w.scale),
        runs_folder=W.runs_folder,
        studies_folder=W.studies_folder,
        code=code_of("claims"),
    script:
        "../scripts/claims.py"


rule overview:
    """six figures of PAUSE v2 at a glance, and their curves"""
    input:
        collected(*targets.overview_scenarios(W)),
    output:
        multiext("results/figures/overview", ".pdf", ".json"),
        charts="results/tables/charts.json",
        png=report("results/figures/overview.png", caption="../report/caption.rst", category="Overview"),
    log:
        "results/logs/overview.log",
    params:
        shown=[runs_shown(name) for name in targets.overview_scenarios(W)],
        code=code_of("overview"),
    script:
        "../scripts/overview.py"


rule report:
    """a page with everything, the demo, one scenario or one study"""
    input:
        lambda w: local_if_published(report_parts.inputs(W, w.report)),
        docs=lambda w: [local(page) for page in report_parts.documents(W, w.report)],
    output:
        "results/report/{report}.html",
    log:
        "results/logs/report/{report}.log",
    threads: 2
    params:
        parts=lambda w: report_parts.parts(W, w.report),
        digest=lambda w: digest_of(report_parts.parts(W, w.report)),
        code=code_of("report"),
    script:
        "../scripts/report.py"


rule numbers:
    """named numbers of the published runs, which the pages have in their places"""
    input:
        local_if_published(targets.numbers_inputs(W)),
        names=local(str(W.root / "docs/numbers.yaml")),
    output:
        "results/numbers.csv",
    log:
        "results/logs/numbers.log",
    params:
        root=str(W.root),
        code=code_of("numbers"),
    script:
        "../scripts/numbers.py"


rule metrics:
    """numbers and curves that Git keeps and DVC compares"""
    input:
        collected(*W.own),
        tables=expand("results/tables/{scenario}", scenario=W.own),
        claims=expand("results/claims/{scale}/claims.json", scale=W.scales),
    output:
        targets.metrics_files(W),
    log:
        "results/logs/metrics.log",
    params:
        shown=[runs_shown(name) for name in W.own],
        code=code_of("metrics"),
    script:
        "../scripts/metrics.py"
