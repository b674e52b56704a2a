# Raw files to prepared arrays to partitions.
from pausefl.data.sources import find_record, located
from pausefl.workflow import paths

# Only files that are missing have a rule, so that Snakemake never deletes or replaces those that exist; what a storage
# lacks shows later, so there all have one. The sources differ in their files, so each source has a rule.
for source, files in paths.downloads(W, STORED).items():

    rule:
        """raw files of a data set"""
        name:
            f"download_{source}"
        output:
            files,
        log:
            f"results/logs/download/{source}.log",
        # First and alone: if it fails, nothing else has started.
        priority: 1
        localrule: True
        threads: workflow.resource_settings.cores or 1
        params:
            source=source,
        script:
            "../scripts/download.py"


rule prepare_data:
    input:
        raw_files,
    output:
        "data/prepared/{dataset}.npz",
    log:
        "results/logs/prepare_data/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_data/{dataset}.tsv"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        settings=lambda wildcards: W.datasets[wildcards.dataset],
        raw=lambda wildcards, input: located(W.datasets[wildcards.dataset], W.config.raw.folders, input),
        code=lambda wildcards: code_of(
            "prepare_data", records=[find_record(W.datasets[wildcards.dataset], W.config.raw)]
        ),
    script:
        "../scripts/prepare_data.py"


rule partition:
    input:
        data="data/prepared/{dataset}.npz",
    output:
        "data/partitions/{dataset}/{partition}/seed-{seed}.npz",
    log:
        "results/logs/partition/{dataset}/{partition}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/partition/{dataset}/{partition}/seed-{seed}.tsv"
    params:
        data=lambda wildcards: division(wildcards).data,
        partition=lambda wildcards: division(wildcards).partition,
        n_users=lambda wildcards: division(wildcards).network.n_users,
        code=code_of("partition", records=()),
    script:
        "../scripts/partition.py"


rule plot_partition:
    input:
        data="data/prepared/{dataset}.npz",
        partition="data/partitions/{dataset}/{partition}/seed-{seed}.npz",
    output:
        report(
            "data/partitions/{dataset}/{partition}/seed-{seed}.png",
            caption="../report/caption.rst",
            category="Partitions",
            labels={"data": "{dataset}", "partition": "{partition}", "seed": "{seed}"},
        ),
    log:
        "results/logs/plot_partition/{dataset}/{partition}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/plot_partition/{dataset}/{partition}/seed-{seed}.tsv"
    params:
        partition=lambda wildcards: division(wildcards).partition,
        code=code_of("plot_partition"),
    script:
        "../scripts/plot_partition.py"
