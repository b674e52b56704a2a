# Selectors that play without training: their regret against the genie, what annealing loses, what they leak.
from pausefl.registry import SELECTORS

REGRET_RUNS = {
    study: [
        f"{FINISHED}/studies/{study}/{selector}/seed-{seed}.parquet"
        for selector in runs.scenario.selectors
        for seed in runs.seeds
    ]
    for study, runs in STUDIES.regret.items()
}

GAPS = {study: [f"{FINISHED}/studies/{study}/gap.csv"] for study in STUDIES.optimality_gap}

SELECTIONS = {study: [f"{FINISHED}/studies/{study}/rounds.parquet"] for study in STUDIES.selection}

# Everything that a study ends in; what was played too, so that what is lost is made again.
RUNS_OUTPUTS = {
    study: [
        *played,
        *[f"results/studies/{study}/{table}" for table in tables],
        *[f"results/studies/{study}/{study}.{extension}" for extension in ("pdf", "png", "json")],
    ]
    for studies, tables in (
        (REGRET_RUNS, ("regret.csv", "fits.csv", "growth.csv")),
        (GAPS, ("summary.csv",)),
        (SELECTIONS, ("summary.csv", "summary.md", "summary.html")),
    )
    for study, played in studies.items()
}

# What a study depends on, and what its caption states.
RUNS_FACTS = {
    study: {
        "title": runs.title,
        "scenario": runs.scenario.as_dict(),
        "seeds": list(runs.seeds),
        "n_rounds": runs.n_rounds,
        "anneals": any(SELECTORS[name].anneals for name in runs.scenario.selectors),
    }
    for study, runs in (STUDIES.regret | STUDIES.optimality_gap | STUDIES.selection).items()
}

if not CONFIG.published:

    rule regret_run:
        output:
            "results/studies/{study}/{selector}/seed-{seed}.parquet",
        log:
            "results/logs/regret_run/{study}/{selector}/seed-{seed}.log",
        benchmark:
            "results/benchmarks/regret_run/{study}/{selector}/seed-{seed}.tsv"
        wildcard_constraints:
            study=one_of(STUDIES.regret),
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 1000 * attempt,
            runtime=lambda wildcards, attempt: 30 * attempt,
        params:
            kind="regret",
            folder="results/studies/{study}",
            study=lambda wildcards: settings_of(
                one_run(STUDIES.regret[wildcards.study], wildcards.selector, int(wildcards.seed))
            ),
            code=lambda wildcards: study_code("regret", [wildcards.selector]),
        script:
            "../scripts/compute.py"

    rule gap:
        output:
            "results/studies/{study}/gap.csv",
        log:
            "results/logs/study/{study}/compute.log",
        benchmark:
            "results/benchmarks/study/{study}/compute.tsv"
        wildcard_constraints:
            study=one_of(STUDIES.optimality_gap),
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 60 * attempt,
        params:
            kind="optimality_gap",
            folder="results/studies/{study}",
            study=lambda wildcards: settings_of(STUDIES.optimality_gap[wildcards.study]),
            code=lambda wildcards: study_code(
                "optimality_gap", STUDIES.optimality_gap[wildcards.study].scenario.selectors
            ),
        script:
            "../scripts/compute.py"

    rule selection:
        output:
            "results/studies/{study}/rounds.parquet",
        log:
            "results/logs/study/{study}/compute.log",
        benchmark:
            "results/benchmarks/study/{study}/compute.tsv"
        wildcard_constraints:
            study=one_of(STUDIES.selection),
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 30 * attempt,
        params:
            kind="selection",
            folder="results/studies/{study}",
            study=lambda wildcards: settings_of(STUDIES.selection[wildcards.study]),
            code=lambda wildcards: study_code(
                "selection", STUDIES.selection[wildcards.study].scenario.selectors
            ),
        script:
            "../scripts/compute.py"


rule regret:
    input:
        lambda wildcards: REGRET_RUNS[wildcards.study],
    output:
        runs="results/studies/{study}/regret.csv",
        fits="results/studies/{study}/fits.csv",
        growth="results/studies/{study}/growth.csv",
        pdf="results/studies/{study}/{study}.pdf",
        png=report(
            "results/studies/{study}/{study}.png",
            caption="../report/regret.rst",
            category="Studies",
            labels={"study": "{study}", "content": "figure"},
        ),
        sidecar="results/studies/{study}/{study}.json",
    log:
        "results/logs/regret/{study}.log",
    benchmark:
        "results/benchmarks/regret/{study}.tsv"
    wildcard_constraints:
        study=one_of(STUDIES.regret),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        kind="regret",
        folder=f"{FINISHED}/studies/{{study}}",
        study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
        title=lambda wildcards: STUDIES.study(wildcards.study).title,
        metadata=lambda wildcards: RUNS_FACTS[wildcards.study],
        versions=lambda wildcards: {
            "code_hashes": {
                selector: study_code("regret", [selector])
                for selector in STUDIES.regret[wildcards.study].scenario.selectors
            }
        },
        code=code_hash("pausefl.figures.regret"),
    script:
        "../scripts/plot.py"


rule draw_gap:
    input:
        f"{FINISHED}/studies/{{study}}/gap.csv",
    output:
        summary="results/studies/{study}/summary.csv",
        pdf="results/studies/{study}/{study}.pdf",
        png=report(
            "results/studies/{study}/{study}.png",
            caption="../report/optimality_gap.rst",
            category="Studies",
            labels={"study": "{study}", "content": "figure"},
        ),
        sidecar="results/studies/{study}/{study}.json",
    log:
        "results/logs/study/{study}/draw.log",
    benchmark:
        "results/benchmarks/study/{study}/draw.tsv"
    wildcard_constraints:
        study=one_of(STUDIES.optimality_gap),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        kind="optimality_gap",
        folder=f"{FINISHED}/studies/{{study}}",
        study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
        title=lambda wildcards: STUDIES.study(wildcards.study).title,
        metadata=lambda wildcards: RUNS_FACTS[wildcards.study],
        versions=lambda wildcards: {
            "code_hash": study_code(
                "optimality_gap", STUDIES.optimality_gap[wildcards.study].scenario.selectors
            )
        },
        drawing=code_hash("pausefl.figures.optimality_gap"),
    script:
        "../scripts/plot.py"


rule draw_selection:
    input:
        f"{FINISHED}/studies/{{study}}/rounds.parquet",
    output:
        pdf="results/studies/{study}/{study}.pdf",
        png=report(
            "results/studies/{study}/{study}.png",
            caption="../report/selection.rst",
            category="Studies",
            labels={"study": "{study}", "content": "figure"},
        ),
        sidecar="results/studies/{study}/{study}.json",
        summary="results/studies/{study}/summary.csv",
        text="results/studies/{study}/summary.md",
        page=report(
            "results/studies/{study}/summary.html",
            caption="../report/selection.rst",
            category="Studies",
            labels={"study": "{study}", "content": "table"},
        ),
    log:
        "results/logs/study/{study}/draw.log",
    benchmark:
        "results/benchmarks/study/{study}/draw.tsv"
    wildcard_constraints:
        study=one_of(STUDIES.selection),
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        kind="selection",
        folder=f"{FINISHED}/studies/{{study}}",
        study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
        title=lambda wildcards: STUDIES.study(wildcards.study).title,
        metadata=lambda wildcards: RUNS_FACTS[wildcards.study]
        | {"place": leakage_places(STUDIES.selection[wildcards.study])},
        versions=lambda wildcards: {
            "code_hash": study_code("selection", STUDIES.selection[wildcards.study].scenario.selectors)
        },
        drawing=code_hash("pausefl.figures.selection"),
    script:
        "../scripts/plot.py"
