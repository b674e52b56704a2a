# Raw files to prepared arrays to partitions.
rule download:
    """official files of a data source"""
    output:
        local(directory(str(W.config.raw.root / "{folder}"))),
    log:
        "results/logs/download/{folder}.log",
    # Of folders that lack files: nothing else in the raw data has a rule that could replace it.
    wildcard_constraints:
        folder=one_of(folder.name for folder in W.downloads),
    # First: if it fails, little else has started.
    priority: 1
    localrule: True
    params:
        source=lambda w, output: W.downloads[Path(output[0])],
    script:
        "../scripts/download.py"


rule prepare:
    """a data set as arrays"""
    input:
        raw,
    output:
        "data/prepared/{dataset}.npz",
    log:
        "results/logs/prepare/{dataset}.log",
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    params:
        settings=lambda w: W.datasets[w.dataset],
        root=str(W.config.raw.root),
        folders=W.config.raw.folders,
        code=lambda w: code_of("prepare", parts=[source_class(W.datasets[w.dataset], W.config.raw)]),
    script:
        "../scripts/prepare.py"


rule partition:
    """which training examples each user has"""
    input:
        "data/prepared/{dataset}.npz",
    output:
        "data/partitions/{dataset}/{partition}/seed-{seed}.npz",
    log:
        "results/logs/partition/{dataset}/{partition}/seed-{seed}.log",
    params:
        data=lambda w: W.divided[w.dataset, w.partition].data,
        partition=lambda w: W.divided[w.dataset, w.partition].partition,
        n_users=lambda w: W.divided[w.dataset, w.partition].network.n_users,
        code=code_of("partition", parts=()),
    script:
        "../scripts/partition.py"


rule plot_partition:
    """examples and labels of each user"""
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
    params:
        partition=lambda w: W.divided[w.dataset, w.partition].partition,
        code=code_of("plot_partition"),
    script:
        "../scripts/plot_partition.py"
