"""The backends of a CPU, and what all backends have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from local_training import partition, train
from torch import nn

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError
from pausefl.settings import ModelSettings, TrainingSettings
from pausefl.streams import Streams
from pausefl.training.backends.base import Backend
from pausefl.training.backends.dense import Dense
from pausefl.training.backends.one_by_one import OneByOne
from pausefl.training.backends.stacked import Stacked
from pausefl.training.dropout import adopt_dropout
from pausefl.training.engine import Trainer

CPU = torch.device("cpu")
SIZES = [1, 7, 20, 21, 45, 60]
ROUNDS = {1: [0, 1, 2, 3, 4, 5], 2: [5, 0, 3], 3: [4], 4: [1, 3, 4, 5]}
FC = ModelSettings(name="fc", norm="none")
#: A convolutional network of each kind of layer, and the smallest images it takes.
NETWORKS = [
    (FC, 6),
    (ModelSettings(name="cnn3", norm="batch"), 22),
    (ModelSettings(name="cnn3", norm="group"), 22),
    (ModelSettings(name="cnn5", norm="batch"), 32),
    (ModelSettings(name="cnn5_as_run", norm="batch"), 32),
    (ModelSettings(name="cnn_bsfl", norm="none"), 10),
]


def images(n: int, size: int) -> Dataset:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (n + 30, 3, size, size)).astype(np.uint8)
    y = rng.integers(0, 10, n + 30)
    return Dataset("noise", x[:n], y[:n], x[n:], y[n:], 10, "drawn")


def settings(**changes: Any) -> TrainingSettings:
    values = {"n_epochs": 2, "batch_size": 20, "max_batches": 100, "learning_rate": 0.01} | changes
    return TrainingSettings(n_rounds=1, **({"optimizer_state": "persist"} | values))


def train_with(
    backend: type[Backend], model: ModelSettings, size: int, training: TrainingSettings
) -> list[Any]:
    """Updates and losses of all rounds."""
    data, share = images(sum(SIZES), size), partition(SIZES)
    return train(Trainer(model, training, data, share, Streams(3), CPU, backend), ROUNDS)


@pytest.mark.parametrize("backend", [Stacked, Dense])
def test_in_single_precision_backends_differ_by_less_than_1e_4(backend: type[Backend]) -> None:
    """The tolerance that the documentation states, after rounds of Adam at 0.01."""
    expected = train_with(OneByOne, FC, 6, settings())
    found = train_with(backend, FC, 6, settings())
    for (rows, _), (expected_rows, _) in zip(found, expected, strict=True):
        for user, row in rows.items():
            np.testing.assert_allclose(row, expected_rows[user], rtol=0, atol=1e-4)


def test_dropout_that_could_not_be_repeated_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Dropout2d is not supported: use torch\.nn\.Dropout"):
        adopt_dropout(nn.Sequential(nn.Conv2d(1, 2, 3), nn.Dropout2d()), torch.zeros(1, 1, 4, 4))


@pytest.mark.parametrize(("model", "size"), NETWORKS, ids=lambda v: getattr(v, "name", ""))
@pytest.mark.parametrize("backend", [OneByOne, Stacked])
def test_a_user_without_some_classes_and_with_less_than_a_batch_is_trained(
    backend: type[Backend], model: ModelSettings, size: int
) -> None:
    data = images(30, size)
    few = np.flatnonzero(data.train_y == data.train_y[0])[:3]
    share = Partition((few, np.setdiff1d(np.arange(30), few)), np.ones(2), np.arange(0))
    trainer = Trainer(model, settings(), data, share, Streams(0), CPU, backend)
    rows = [row for local in trainer.train(trainer.initial, np.array([0, 1]), 1) for row in local.updates]
    assert len(rows) == 2
    assert all(np.isfinite(row).all() and row.any() for row in rows)
