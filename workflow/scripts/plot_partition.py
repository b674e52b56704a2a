"""Plot a partition: how many examples of which labels each user has."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.analysis.figures.partition import plot_partition
from pausefl.analysis.figures.style import theme
from pausefl.data.dataset import load_dataset
from pausefl.data.partition import load_partition, partition_name
from pausefl.files import replacing

with logged(snakemake.log[0]):
    dataset = load_dataset(Path(snakemake.input.data))
    settings, wildcards = snakemake.params.partition, snakemake.wildcards
    seed = int(wildcards.seed)
    name = partition_name(wildcards.dataset, wildcards.partition, seed)
    partition = load_partition(Path(snakemake.input.partition), name)
    drawn = f"{settings.labels} labels, {settings.sizes} sizes"
    title = f"{dataset.name}: {drawn if settings.users == 'drawn' else 'users as given'}, seed {seed}"
    with theme():
        figure = plot_partition(partition, dataset.train_y, dataset.n_classes, title, settings.asked_share)
        with replacing(Path(snakemake.output[0])) as (staged,):
            figure.savefig(staged, format="png", dpi=150, metadata={"Software": "pausefl"})
