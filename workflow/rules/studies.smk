# Studies of selection alone and of the noise: one rule computes, another plots, so that an edit of a plot recomputes nothing.
# The kinds differ in their files, so each kind has such a pair.
from pausefl.registry import STUDIES
from pausefl.workflow import code, paths, studies

for kind, record in STUDIES.items():

    # With published runs everything that takes time is there.
    if record.instant or not W.config.published:

        rule:
            name:
                f"compute_{kind}"
            input:
                lambda wildcards: [
                    f"{folder}/{name}"
                    for folder in paths.study_runs(W, wildcards.study).values()
                    for name in paths.RUN_FILES
                ],
            output:
                [f"results/studies/{{study}}/{file}" for file in (*record.data, record.code_file)],
            log:
                f"results/logs/{paths.study_log(kind, 'log')}",
            benchmark:
                f"results/benchmarks/{paths.study_log(kind, 'tsv')}"
            wildcard_constraints:
                study=paths.one_of(studies.of_kind(W, kind)),
            # Times are measured on one core, but nothing may run beside: here on all cores, on a cluster on a node.
            threads: (workflow.resource_settings.cores or 1) if record.exclusive and workflow.local_exec else 1
            resources:
                mem_mb=lambda wildcards, attempt: 4000 * attempt,
                runtime=lambda wildcards, attempt: 60 * attempt,
                slurm_extra="--exclusive" if record.exclusive else "",
            params:
                kind=kind,
                study=lambda wildcards: studies.settings(W, **wildcards),
                folder="results/studies/{study}",
                runs=lambda wildcards: paths.study_runs(W, wildcards.study),
                code=lambda wildcards: code.study(W, **wildcards),
                script=code.script(W, "compute"),
            script:
                "../scripts/compute.py"

    rule:
        name:
            f"plot_{kind}"
        input:
            lambda wildcards: paths.study_data(W, wildcards.study),
        output:
            pdf="results/studies/{study}/{study}.pdf",
            png=report(
                "results/studies/{study}/{study}.png",
                caption="../report/caption.rst",
                category="Studies",
                labels={"study": "{study}"},
            ),
            svg="results/studies/{study}/{study}.svg",
            sidecar="results/studies/{study}/{study}.json",
            tables=[f"results/studies/{{study}}/{file}" for file in record.tables],
        log:
            "results/logs/study/{study}/plot.log",
        benchmark:
            "results/benchmarks/study/{study}/plot.tsv"
        wildcard_constraints:
            study=paths.one_of(studies.of_kind(W, kind)),
        params:
            kind=kind,
            study=lambda wildcards: studies.settings(W, wildcards.study),
            title=lambda wildcards: W.studies.study(wildcards.study).title,
            folder=lambda wildcards: paths.study_folder(W, wildcards.study),
            versions=lambda wildcards: studies.versions(W, wildcards.study),
            code=code.study_plot(kind),
            script=code.script(W, "plot"),
        script:
            "../scripts/plot.py"


# After the figure and the tables, which a reader wants to see whatever the verdict.
rule study_verdict:
    input:
        data=lambda wildcards: paths.study_data(W, wildcards.study),
        shown=lambda wildcards: paths.study_plots(W, wildcards.study),
    output:
        "results/studies/{study}/verdict.txt",
    log:
        "results/logs/study/{study}/verdict.log",
    wildcard_constraints:
        study=paths.one_of(studies.judged(W)),
    params:
        kind=lambda wildcards: W.studies.kind(wildcards.study),
        study=lambda wildcards: studies.settings(W, wildcards.study),
        folder=lambda wildcards: paths.study_folder(W, wildcards.study),
        code=lambda wildcards: code.study_verdict(W.studies.kind(wildcards.study)),
        script=code.script(W, "verdict"),
    script:
        "../scripts/verdict.py"
