# Studies of searches: races of annealers, the graphs they walk on, what searches cost. A rule computes, another
# draws, so that what was measured is not measured again for a new colour.
SEARCHES = {"comparison": STUDIES.comparison, "graphs": STUDIES.graphs, "runtime": STUDIES.runtime}

# What is computed.
SEARCH_DATA = {
    "comparison": ("runs.parquet", "curves.csv"),
    "graphs": ("degrees.csv", "vertices.csv", "edges.csv"),
    "runtime": ("times.csv", "memory.csv"),
}


def search_data(kind, name="{study}"):
    """The files that a study's numbers are in, by name."""
    return {Path(file).stem: f"{FINISHED}/studies/{name}/{file}" for file in SEARCH_DATA[kind]}


def search_outputs(name):
    """Everything that a study of searches ends in."""
    files = ("summary.csv", "summary.md", "summary.html", f"{name}.pdf", f"{name}.png", f"{name}.json")
    return [
        *search_data(STUDIES.kind(name), name).values(),
        *[f"results/studies/{name}/{file}" for file in files],
    ]


def search_code(name):
    """Hash of the code that a study's numbers depend on."""
    scenario = settings_of(STUDIES.study(name)).get("scenario", {})
    return study_code(STUDIES.kind(name), scenario.get("selectors", ()))


def alone(wildcards):
    """Whether a study measures time."""
    return STUDIES.kind(wildcards.study) == "runtime"


for kind in SEARCHES:

    if not CONFIG.published:

        rule:
            name:
                f"compute_{kind}"
            output:
                **search_data(kind),
            log:
                "results/logs/study/{study}/compute.log",
            benchmark:
                "results/benchmarks/study/{study}/compute.tsv"
            wildcard_constraints:
                study=one_of(SEARCHES[kind]),
            # Times are measured on one core, but nothing may run beside: here on all cores, on a cluster on a node.
            threads: lambda wildcards: workflow.cores if alone(wildcards) and workflow.local_exec else 1
            resources:
                mem_mb=lambda wildcards, attempt: 4000 * attempt,
                runtime=lambda wildcards, attempt: 60 * attempt,
                slurm_extra=lambda wildcards: "--exclusive" if alone(wildcards) else "",
            params:
                kind=kind,
                folder="results/studies/{study}",
                study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
                code=lambda wildcards: search_code(wildcards.study),
            script:
                "../scripts/compute.py"

    rule:
        name:
            f"draw_{kind}"
        input:
            **search_data(kind),
        output:
            pdf="results/studies/{study}/{study}.pdf",
            png=report(
                "results/studies/{study}/{study}.png",
                caption=f"../report/{kind}.rst",
                category="Studies",
                labels={"study": "{study}", "content": "figure"},
            ),
            sidecar="results/studies/{study}/{study}.json",
            summary="results/studies/{study}/summary.csv",
            text="results/studies/{study}/summary.md",
            page=report(
                "results/studies/{study}/summary.html",
                caption=f"../report/{kind}.rst",
                category="Studies",
                labels={"study": "{study}", "content": "table"},
            ),
        log:
            "results/logs/study/{study}/draw.log",
        benchmark:
            "results/benchmarks/study/{study}/draw.tsv"
        wildcard_constraints:
            study=one_of(SEARCHES[kind]),
        threads: 1
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 10 * attempt,
        params:
            kind=kind,
            folder=f"{FINISHED}/studies/{{study}}",
            study=lambda wildcards: settings_of(STUDIES.study(wildcards.study)),
            title=lambda wildcards: STUDIES.study(wildcards.study).title,
            versions=lambda wildcards: {"code_hash": search_code(wildcards.study)},
            drawing=code_hash(f"pausefl.figures.{kind}", "pausefl.results.tables"),
        script:
            "../scripts/plot.py"
