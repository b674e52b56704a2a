"""The training engine: local training on every user of a round, and evaluation of the global model.

The model and the device choose the training backend (`pausefl.training.backends`); the streams of the seed
choose mini-batches and dropout masks. Outside this package a model is one flat float32 vector of NumPy:
protected values, unprotected values, running statistics (`Layout`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError
from pausefl.streams import Streams
from pausefl.training.backends import fastest_backend
from pausefl.training.backends.base import Backend, LocalUpdates, Vector, Workbench
from pausefl.training.batches import Participation, plan_batches
from pausefl.training.flat import FlatModel
from pausefl.training.layout import Layout
from pausefl.training.models import MODELS
from pausefl.training.networks import has_dropout, is_batch_norm
from pausefl.training.optimizers import make_optimizer
from pausefl.training.settings import ModelSettings, TrainingSettings, check_device


def choose_device(name: str) -> torch.device:
    """The device ``auto``, ``cpu`` or ``cuda``; `ConfigError` if CUDA is asked for and there is none."""
    check_device(name)
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "device 'cuda' was requested, but this machine has no usable CUDA device; use 'cpu'"
        )
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def build_model(settings: ModelSettings, dataset: Dataset, streams: Streams) -> nn.Module:
    """The initial network of a seed, the same for every selector."""
    seed = int(streams.generator("initial weights").integers(2**63))
    n_outputs = dataset.n_classes or 1
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # and no GPU's, which is the caller's
        return settings.build(dataset.input_shape, n_outputs)


class Scores(NamedTuple):
    """Scores of the global model on the test split.

    Attributes
    ----------
    accuracy
        In [0, 1]; an image with an output that is not finite counts as a guess, 1 / classes. NaN for
        regression.
    loss
        Mean cross-entropy or squared error; infinity in place of NaN.
    diverged
        Whether any output is not finite.
    by_class
        Accuracy on the images of each class, NaN for a class without any; empty for regression.
    """

    accuracy: float
    loss: float
    diverged: bool
    by_class: tuple[float, ...]


class Trainer:
    """Trains users on their own data and evaluates the global model.

    Parameters
    ----------
    model, training
        Settings of the scenario.
    dataset, partition
        The data, and who has which of it.
    streams
        Streams of the experiment's seed: initial weights, the order of mini-batches, dropout.
    device
        Where to compute.
    backend
        How to train; by default the fastest for the model and the device.

    Raises
    ------
    ConfigError
        If a user's data, or a batch, are too small for the model.
    """

    def __init__(
        self,
        model: ModelSettings,
        training: TrainingSettings,
        dataset: Dataset,
        partition: Partition,
        streams: Streams,
        device: torch.device,
        backend: type[Backend] | None = None,
    ) -> None:
        self.training = training
        self.partition = partition
        self.streams = streams
        flat = FlatModel(build_model(model, dataset, streams), device)
        self.layout: Layout = flat.layout
        self.initial: Vector = flat.values.cpu().numpy().copy()
        module = flat.module
        self._smallest_batch = 2 if any(is_batch_norm(m) for m in module.modules()) else 1
        self._dropout = has_dropout(module)
        fewest = min(training.batch_size, int(partition.sizes.min()))
        if fewest < self._smallest_batch:
            raise ConfigError(
                f"batch normalisation cannot train on batches of {fewest}: raise training.batch_size or"
                f" partition.min_size to {self._smallest_batch} or more"
            )
        if training.short_batches == "skip" and fewest < min(training.batch_size, 2):
            raise ConfigError(
                "with training.short_batches = 'skip' a user with a single example would train on none: raise"
                " partition.min_size to 2 or more"
            )
        self._optimizer = make_optimizer(training, len(partition.users), self.layout.n_trainable, device)
        self._bench = Workbench(flat, self._optimizer, dataset, training, device)
        self._train_y, self._test_y = (
            torch.from_numpy(y).to(device) for y in (dataset.train_y, dataset.test_y)
        )
        if backend is None:
            family = MODELS.find(model.name).family
            backend = fastest_backend(device.type, family, self._bench.regression)
        self._backend: Backend = backend(self._bench)

    def train(self, theta: Vector, users: NDArray[np.int64], round: int) -> Iterator[LocalUpdates]:
        """Train each user from the global model, some users at a time.

        The next users are handed to the device before those before them are yielded, so that it never waits.

        Parameters
        ----------
        theta
            (n_values,) the global model.
        users
            (n,) user ids.
        round
            t, 1-based; with the user it fixes mini-batches and dropout masks.
        """
        part = [self._plan(int(user), round) for user in users]
        pending: list[LocalUpdates] = []
        for start in range(0, len(part), self._backend.n_together):
            pending.append(self._backend.train(theta, part[start : start + self._backend.n_together]))
            if len(pending) > 1:
                yield pending.pop(0)
        yield from pending

    def evaluate(self, theta: Vector) -> Scores:
        """Apply a model to the test split."""
        outputs, y = self._backend.outputs(theta), self._test_y
        finite, n = outputs.isfinite().all(1), len(y)
        loss = float(self._bench.loss(outputs, y, reduction="sum")) / n
        loss = math.inf if math.isnan(loss) else loss
        if self._bench.regression:
            return Scores(math.nan, loss, not bool(finite.all()), ())
        n_classes = outputs.shape[1]
        kind = torch.where(finite, outputs.argmax(1) == y, 2)  # 0: wrong, 1: right, 2: a guess
        counts = torch.bincount(y.add(kind, alpha=n_classes), minlength=3 * n_classes).tolist()
        wrong, right, guessed = (counts[k * n_classes : (k + 1) * n_classes] for k in range(3))
        n_guessed = sum(guessed)
        accuracy = (sum(right) + n_guessed / n_classes) / n
        by_class = (
            (r + g / n_classes) / (w + r + g) if w + r + g else math.nan
            for w, r, g in zip(wrong, right, guessed, strict=True)
        )
        return Scores(accuracy, loss, n_guessed > 0, tuple(by_class))

    def losses(self, theta: Vector, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n,) mean loss of a model on all of each user's own data, in evaluation mode."""
        rows = [self.partition.users[int(user)] for user in users]
        outputs = torch.split(self._backend.outputs(theta, np.concatenate(rows)), [len(of) for of in rows])
        targets = (self._train_y[torch.from_numpy(of).to(self._train_y.device)] for of in rows)
        return np.array([float(self._bench.loss(*pair)) for pair in zip(outputs, targets, strict=True)])

    def state(self) -> dict[str, NDArray[Any]]:
        """State that coming rounds depend on; write or copy it before them, see `UserOptimizer.state`."""
        return self._optimizer.state()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a `state`, which is emptied; call it before any training."""
        self._optimizer.restore(state)

    def _plan(self, user: int, round: int) -> Participation:
        """A user's mini-batches and dropout seed in a round."""
        examples = self.partition.users[user]
        rng = self.streams.generator("batches", user=user, round=round)
        batches = plan_batches(len(examples), self.training, self._smallest_batch, rng)
        seed = None
        if self._dropout:
            seed = int(self.streams.generator("dropout", user=user, round=round).integers(2**63))
        return Participation(user, [examples[b] for b in batches], seed)
