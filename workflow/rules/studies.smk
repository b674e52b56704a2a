# Studies of selection alone and of the noise: one rule computes, another plots.
# The kinds differ in their files, so each kind has such a pair.
from pausefl.studies import kinds
from pausefl.workflow import paths

for kind, facts in kinds().items():

    run = "{selector}/seed-{seed}/" if facts.by_run() else ""

    # With published runs everything that takes time is there.
    if facts.instant or not W.config.published:

        rule:
            name:
                f"compute_{kind}"
            input:
                lambda wildcards: paths.of_runs(paths.study_runs(W, wildcards.study).values()),
            output:
                [f"results/studies/{{study}}/{file}" for file in facts.data],
            log:
                f"results/logs/study/{{study}}/{run}compute.log",
            benchmark:
                f"results/benchmarks/study/{{study}}/{run}compute.tsv"
            wildcard_constraints:
                study=paths.one_of(W.studies.of_kind(kind)),
            # Times are measured on one core, but nothing may run beside: here on all cores, on a cluster on a node.
            threads: (workflow.resource_settings.cores or 1) if facts.exclusive and workflow.local_exec else 1
            resources:
                mem_mb=lambda wildcards, attempt: 4000 * attempt,
                runtime=lambda wildcards, attempt: 60 * attempt,
                slurm_extra="--exclusive" if facts.exclusive else "",
            params:
                kind=kind,
                study=lambda wildcards: W.studies.part(**wildcards).settings(),
                runs=lambda wildcards: list(paths.study_runs(W, wildcards.study)),
                code=lambda wildcards, kind=kind: code_of(
                    "compute", kinds()[kind].__module__, records=W.studies.part(**wildcards).records()
                ),
            script:
                "../scripts/compute.py"

    if not (studies := list(W.studies.of_kind(kind))):
        continue
    # One process plots all published studies of a kind: it starts slower than it plots.
    places = at_once(studies, "study")
    stems = [f"results/studies/{place}/{place}" for place in places]

    rule:
        name:
            f"plot_{kind}"
        input:
            partial(computed, places),
        output:
            pdf=[f"{stem}.pdf" for stem in stems],
            png=[
                report(
                    f"{stem}.png",
                    caption="../report/caption.rst",
                    category="Studies",
                    labels={"study": place},
                )
                for stem, place in zip(stems, places, strict=True)
            ],
            sidecar=[f"{stem}.json" for stem in stems],
            tables=[f"results/studies/{place}/{file}" for place in places for file in facts.tables],
        log:
            f"results/logs/study/{places[0]}/plot.log",
        benchmark:
            f"results/benchmarks/study/{places[0]}/plot.tsv"
        wildcard_constraints:
            study=paths.one_of(studies),
        params:
            kind=kind,
            studies=partial(studies_to_plot, places),
            code=code_of("plot", facts.__module__),
        script:
            "../scripts/plot.py"


# After the figure and the tables, which a reader wants to see whatever the verdict.
rule study_verdict:
    input:
        data=lambda wildcards: of_checkout(paths.study_data(W, wildcards.study)),
        shown=lambda wildcards: paths.study_plots(W, wildcards.study),
    output:
        "results/studies/{study}/verdict.txt",
    log:
        "results/logs/study/{study}/verdict.log",
    wildcard_constraints:
        study=paths.one_of(name for name, one in W.studies.items() if one.judged),
    params:
        kind=lambda wildcards: W.studies[wildcards.study].kind,
        study=lambda wildcards: W.studies[wildcards.study].settings(),
        code=lambda wildcards: code_of("verdict", type(W.studies[wildcards.study]).__module__),
    script:
        "../scripts/verdict.py"
