# Studies of selection alone, of the noise, and of runs with changed settings: one step computes, another plots.
rule study:
    """the tables of a study"""
    input:
        lambda w: targets.run_files(W.runs_of_study(w.study)),
    output:
        directory("results/studies/{study}"),
    log:
        "results/logs/study/{study}.log",
    benchmark:
        "results/benchmarks/study/{study}.tsv"
    # All cores, to which Snakemake cuts 1000, for what measures times, beside which nothing may run. On a cluster it is
    # `max-threads` of the profile.
    threads: lambda w: 1000 if W.studies[w.study].exclusive else 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 240 * attempt,
        slurm_extra=lambda w: "--exclusive" if W.studies[w.study].exclusive else "",
    params:
        kind=lambda w: W.studies[w.study].kind,
        settings=lambda w: W.studies[w.study].settings(),
        code=lambda w: code_of("study", W.studies[w.study].__module__, parts=W.studies[w.study].parts()),
    script:
        "../scripts/study.py"


rule plot_study:
    """the figure of a study, and derived tables"""
    input:
        lambda w: local_if_published([f"{W.studies_folder}/{w.study}"]),
    output:
        multiext("results/figures/{study}", ".pdf", ".json"),
        png=report("results/figures/{study}.png", caption="../report/caption.rst", category="Studies"),
        tables=directory("results/tables/{study}"),
    log:
        "results/logs/plot_study/{study}.log",
    params:
        kind=lambda w: W.studies[w.study].kind,
        settings=lambda w: W.studies[w.study].settings(),
        title=lambda w: W.studies[w.study].title if W.config.titles else "",
        data=lambda w: f"{W.studies_folder}/{w.study}",
        code=lambda w: code_of("plot_study", W.studies[w.study].__module__),
    script:
        "../scripts/plot_study.py"


# After the figure, which a reader wants to see whatever the verdict.
rule verdict:
    """whether what a study computed refutes what it checks"""
    input:
        lambda w: local_if_published([f"{W.studies_folder}/{w.study}"]),
        "results/figures/{study}.png",
    output:
        "results/verdicts/{study}.txt",
    log:
        "results/logs/verdict/{study}.log",
    params:
        kind=lambda w: W.studies[w.study].kind,
        settings=lambda w: W.studies[w.study].settings(),
        code=lambda w: code_of("verdict", W.studies[w.study].__module__),
    script:
        "../scripts/verdict.py"
