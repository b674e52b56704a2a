"""Divide the training examples among the users."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import make_partition, partition_name
from pausefl.streams import Streams

params, wildcards = snakemake.params, snakemake.wildcards
with logged(snakemake.log[0]):
    labels = load_dataset(Path(snakemake.input[0])).train_y
    seed = int(wildcards.seed)
    partition = make_partition(labels, params.data, params.partition, params.n_users, Streams(seed))
    partition.save(Path(snakemake.output[0]), partition_name(wildcards.dataset, wildcards.partition, seed))
