# The generalisation reward against the share of rounds, which no training and no draw has a part in.
GENERALIZATION_OUTPUTS = {
    name: [
        f"results/studies/{name}/generalization.csv",
        *[f"results/studies/{name}/{name}.{extension}" for extension in ("pdf", "png", "json")],
    ]
    for name in STUDIES.generalization
}


rule compute_generalization:
    output:
        "results/studies/{study}/generalization.csv",
    log:
        "results/logs/study/{study}/compute.log",
    wildcard_constraints:
        study=one_of(STUDIES.generalization),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        kind="generalization",
        folder="results/studies/{study}",
        study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
        code=study_code("generalization"),
    script:
        "../scripts/compute.py"


rule generalization:
    input:
        "results/studies/{study}/generalization.csv",
    output:
        pdf="results/studies/{study}/{study}.pdf",
        png=report(
            "results/studies/{study}/{study}.png",
            caption="../report/generalization.rst",
            category="Studies",
            labels={"study": "{study}", "content": "figure"},
        ),
        sidecar="results/studies/{study}/{study}.json",
    log:
        "results/logs/study/{study}/draw.log",
    benchmark:
        "results/benchmarks/study/{study}/draw.tsv"
    wildcard_constraints:
        study=one_of(STUDIES.generalization),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        kind="generalization",
        folder="results/studies/{study}",
        study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
        title=lambda wildcards: STUDIES.study(wildcards.study).title,
        versions={"code_hash": study_code("generalization")},
    script:
        "../scripts/plot.py"
