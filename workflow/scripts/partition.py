"""Divide the training examples among the users."""

from pausefl.reproduction.targets.step import logged

from pathlib import Path

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import make_partition, partition_name
from pausefl.streams import Streams

params, wildcards = snakemake.params, snakemake.wildcards
with logged(snakemake.log[0]):
    data, seed = load_dataset(Path(snakemake.input[0])), int(wildcards.seed)
    settings = params.data, params.partition, params.n_users, Streams(seed)
    partition = make_partition(data.train_y, *settings, data.train_users)
    partition.save(Path(snakemake.output[0]), partition_name(wildcards.dataset, wildcards.partition, seed))
