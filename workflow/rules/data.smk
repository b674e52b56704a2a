# Raw files to prepared arrays to partitions.
from pausefl.data.sources import located
from pausefl.provenance import code_hash
from pausefl.workflow import code, paths

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
        code=lambda wildcards: code.reader(W, wildcards.dataset),
        script=code.script(workflow.source_path("../scripts/prepare_data.py")),
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
        code=code_hash("pausefl.data.partition:make_partition"),
        script=code.script(workflow.source_path("../scripts/partition.py")),
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
        code=code.partition_plot(),
        script=code.script(workflow.source_path("../scripts/plot_partition.py")),
    script:
        "../scripts/plot_partition.py"
