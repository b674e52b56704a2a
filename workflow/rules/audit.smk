# Audits of the noise: lower bounds on epsilon, and a verdict that fails where one is above its claim.
AUDITED = f"{FINISHED}/studies/{{study}}/audit.csv"
AUDIT_OUTPUTS = {
    name: [
        AUDITED.format(study=name),
        *[f"results/studies/{name}/{file}" for file in ("summary.md", "summary.html")],
        *[f"results/studies/{name}/{name}.{extension}" for extension in ("pdf", "png", "json")],
        f"results/studies/{name}/verdict.txt",
    ]
    for name in STUDIES.audit
}


if not CONFIG.published:

    rule audit:
        output:
            AUDITED,
        log:
            "results/logs/study/{study}/compute.log",
        benchmark:
            "results/benchmarks/study/{study}/compute.tsv"
        wildcard_constraints:
            study=one_of(STUDIES.audit),
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 60 * attempt,
        params:
            kind="audit",
            folder="results/studies/{study}",
            study=lambda wildcards: settings_of(STUDIES.audit[wildcards.study]),
            code=study_code("audit"),
        script:
            "../scripts/compute.py"


rule draw_audit:
    input:
        AUDITED,
    output:
        pdf="results/studies/{study}/{study}.pdf",
        png=report(
            "results/studies/{study}/{study}.png",
            caption="../report/audit.rst",
            category="Studies",
            labels={"study": "{study}", "content": "figure"},
        ),
        sidecar="results/studies/{study}/{study}.json",
        text="results/studies/{study}/summary.md",
        page=report(
            "results/studies/{study}/summary.html",
            caption="../report/audit.rst",
            category="Studies",
            labels={"study": "{study}", "content": "table"},
        ),
    log:
        "results/logs/study/{study}/draw.log",
    benchmark:
        "results/benchmarks/study/{study}/draw.tsv"
    wildcard_constraints:
        study=one_of(STUDIES.audit),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        kind="audit",
        folder=f"{FINISHED}/studies/{{study}}",
        study=lambda wildcards: settings_of(STUDIES.audit[wildcards.study]),
        title=lambda wildcards: STUDIES.audit[wildcards.study].title,
        versions={"code_hash": study_code("audit")},
        drawing=code_hash("pausefl.figures.audit", "pausefl.results.tables"),
    script:
        "../scripts/plot.py"


# After the figure and the table, which are there to be looked at whatever the verdict.
rule audit_verdict:
    input:
        table=AUDITED,
        png="results/studies/{study}/{study}.png",
        text="results/studies/{study}/summary.md",
    output:
        "results/studies/{study}/verdict.txt",
    log:
        "results/logs/study/{study}/verdict.log",
    wildcard_constraints:
        study=one_of(STUDIES.audit),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        code=study_code("audit"),
    script:
        "../scripts/verdict.py"
