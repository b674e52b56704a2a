"""Divide the training examples among the users."""

from pausefl.workflow.step import logged

from pathlib import Path

from pausefl.data.dataset import load_dataset
from pausefl.data.partition import make_partition
from pausefl.streams import Streams

params = snakemake.params
with logged(snakemake.log[0]):
    data, streams = load_dataset(Path(snakemake.input[0])), Streams(int(snakemake.wildcards.seed))
    settings = params.data, params.partition, params.n_users, streams
    partition = make_partition(data.train_y, *settings, data.train_users)
    partition.save(Path(snakemake.output[0]))
