# Raw files to prepared arrays to partitions.


rule prepare_data:
    output:
        "data/prepared/{dataset}.npz",
    log:
        "results/logs/prepare_data/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare_data/{dataset}.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        settings=lambda wildcards: DATASETS[wildcards.dataset],
        raw=CONFIG.raw,
        code=lambda wildcards: reader_hash(DATASETS[wildcards.dataset]),
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
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        data=lambda wildcards: scenario_of(wildcards).data,
        partition=lambda wildcards: scenario_of(wildcards).partition,
        n_users=lambda wildcards: scenario_of(wildcards).network.n_users,
        code=code_hash("pausefl.data.partition"),
    script:
        "../scripts/partition.py"


rule draw_partition:
    input:
        data="data/prepared/{dataset}.npz",
        partition="data/partitions/{dataset}/{partition}/seed-{seed}.npz",
    output:
        report(
            "data/partitions/{dataset}/{partition}/seed-{seed}.png",
            caption="../report/partition.rst",
            category="Partitions",
            labels={"data": "{dataset}", "partition": "{partition}", "seed": "{seed}"},
        ),
    log:
        "results/logs/draw_partition/{dataset}/{partition}/seed-{seed}.log",
    benchmark:
        "results/benchmarks/draw_partition/{dataset}/{partition}/seed-{seed}.tsv"
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        caption=lambda wildcards: figure_caption(scenario_of(wildcards).name, "partition"),
        partition=lambda wildcards: scenario_of(wildcards).partition,
        code=code_hash("pausefl.figures.partition", "pausefl.figures.style"),
    script:
        "../scripts/draw_partition.py"
