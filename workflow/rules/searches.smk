# Studies of searches: races of annealers, the graphs they walk on, what searches cost. A rule computes, another
# draws, so that what was measured is not measured again for a new colour.
from dataclasses import asdict

SEARCHES = {"races": STUDIES.races, "graphs": STUDIES.graphs, "costs": STUDIES.costs}

# What is computed, and the selectors that a study needs besides those it names.
SEARCH_DATA = {
    "races": ("runs.parquet", "curves.csv"),
    "graphs": ("degrees.csv", "vertices.csv", "edges.csv"),
    "costs": ("times.csv", "memory.csv"),
}
SEARCH_SELECTORS = {"races": {"bsfl", "pause"}, "graphs": set(), "costs": {"pause"}}


def search_kind(name):
    """Of which kind a study is."""
    return next(kind for kind, studies in SEARCHES.items() if name in studies)


def search_data(kind, name="{study}"):
    """The files that a study's numbers are in, by name."""
    return {Path(file).stem: f"results/studies/{name}/{file}" for file in SEARCH_DATA[kind]}


def search_outputs(name):
    """Everything that a study of searches ends in."""
    files = ("summary.csv", "summary.md", "summary.html", f"{name}.pdf", f"{name}.png", f"{name}.json")
    return [
        *search_data(search_kind(name), name).values(),
        *[f"results/studies/{name}/{file}" for file in files],
    ]


def search_settings(name):
    """All that a study's numbers depend on, in plain values: no titles."""
    study = SEARCHES[search_kind(name)][name]
    settings = {
        key: list(value) if isinstance(value, tuple) else value for key, value in asdict(study).items()
    }
    del settings["title"]
    if "scenario" in settings:
        settings["scenario"] = study.scenario.as_dict() | {"title": study.scenario.name}
    return settings


def search_code(name):
    """Hash of the code that a study's numbers depend on."""
    kind, scenario = search_kind(name), search_settings(name).get("scenario", {})
    selectors = SEARCH_SELECTORS[kind] | set(scenario.get("selectors", ()))
    return code_hash(f"pausefl.studies.{kind}", selectors=selectors)


for kind in SEARCHES:

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
        # Times are measured on one core, but nothing of ours may run beside.
        threads: lambda wildcards: workflow.cores if search_kind(wildcards.study) == "costs" else 1
        resources:
            mem_mb=lambda wildcards, attempt: 4000 * attempt,
            runtime=lambda wildcards, attempt: 60 * attempt,
        params:
            kind=kind,
            study=lambda wildcards: search_settings(wildcards.study),
            code=lambda wildcards: search_code(wildcards.study),
        script:
            "../scripts/{params.kind}.py"

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
            study=lambda wildcards: search_settings(wildcards.study),
            title=lambda wildcards: SEARCHES[search_kind(wildcards.study)][wildcards.study].title,
            code=lambda wildcards: search_code(wildcards.study),
            drawing=code_hash("pausefl.figures.searches", "pausefl.tables"),
        script:
            "../scripts/{params.kind}.py"
