"""The training engine: local training on every user of a round, and evaluation of the global model.

Dense networks are trained several users at once (`StackedMlp`); any other module one user after another, in
channels-last memory. Both give a user the same examples in the same order and the same optimiser. The loss is
that of the data: cross-entropy for classes, mean squared error for regression. To the rest of the library a
model is one flat float32 vector of NumPy: protected values, unprotected ones, running statistics (`Layout`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pausefl.config import ModelSettings, TrainingSettings
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import ConfigError, suggest
from pausefl.models import MODELS, Mlp, has_dropout, is_batch_norm
from pausefl.streams import Streams
from pausefl.training.adam import UserAdam
from pausefl.training.batches import plan_batches
from pausefl.training.flat import FlatModel, Layout
from pausefl.training.stacked import StackedMlp

Vector = NDArray[np.float32]

#: Users of one stack: their values, gradients and activations fit in a core's cache.
_STACK = 16
#: Activations of a convolutional network on this many images stay in a core's cache.
_EVALUATION_BATCH = 100
_DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str) -> torch.device:
    """The device ``auto``, ``cpu`` or ``cuda``; `ConfigError` if CUDA is asked for and there is none."""
    if name not in _DEVICES:
        raise ConfigError(f"unknown device '{name}'. {suggest(name, _DEVICES)}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "device 'cuda' was asked for, but this machine has no usable CUDA device; use 'cpu'"
        )
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def build_model(settings: ModelSettings, dataset: Dataset, streams: Streams) -> nn.Module:
    """The initial network of a seed, the same for every selector."""
    seed = int(streams.generator("initial weights").integers(2**63))
    n_outputs = dataset.n_classes or 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return MODELS[settings.name].build(dataset.train_x.shape[1:], n_outputs, settings.norm)


def model_layout(settings: ModelSettings, dataset: Dataset) -> Layout:
    """Numbers of protected, trainable and all values of a model, without training it."""
    return FlatModel(build_model(settings, dataset, Streams(0)), torch.device("cpu")).layout


@dataclass(frozen=True)
class LocalUpdates:
    """Updates of some users of a round, before clamping and noise.

    Attributes
    ----------
    users
        (n,) user ids.
    updates
        (n, n_values) float32: local minus global model; may be overwritten.
    loss_sum
        Loss summed over all training examples visited.
    n_visited
        How many those were.
    """

    users: NDArray[np.int64]
    updates: Vector
    loss_sum: float
    n_visited: int


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

    Raises
    ------
    ConfigError
        If a user's data, or a batch, are too small for the model to train on.
    """

    def __init__(
        self,
        model: ModelSettings,
        training: TrainingSettings,
        dataset: Dataset,
        partition: Partition,
        streams: Streams,
        device: torch.device,
    ) -> None:
        self.training = training
        self.partition = partition
        self.streams = streams
        self.device = device
        self.flat = FlatModel(build_model(model, dataset, streams), device)
        self.layout = self.flat.layout
        self.initial: Vector = self.flat.values.cpu().numpy().copy()
        module = self.flat.module
        self._smallest_batch = 2 if any(is_batch_norm(m) for m in module.modules()) else 1
        self._regression = dataset.n_classes == 0
        self._dropout = has_dropout(module)
        self._stack: StackedMlp | None = None
        if isinstance(module, Mlp) and not self._regression:
            self._stack = StackedMlp(module.widths, _STACK, device)
        fewest = min(training.batch_size, int(partition.sizes.min()))
        if fewest < self._smallest_batch:
            raise ConfigError(
                f"batch normalisation cannot train on batches of {fewest}: raise training.batch_size or"
                f" partition.min_size to {self._smallest_batch} or more"
            )
        n_users, persist = len(partition.users), training.optimizer_state == "persist"
        self._adam = UserAdam(n_users, self.layout.n_trainable, training.learning_rate, persist, device)
        as_input = _features if self._regression else _pixels
        self._train_x, self._test_x = (as_input(x, device) for x in (dataset.train_x, dataset.test_x))
        self._train_y, self._test_y = (
            torch.from_numpy(y).to(device) for y in (dataset.train_y, dataset.test_y)
        )

    def train(self, theta: Vector, users: NDArray[np.int64], round: int) -> Iterator[LocalUpdates]:
        """Train each user from the global model, some users at a time.

        Parameters
        ----------
        theta
            (n_values,) the global model.
        users
            (n,) user ids.
        round
            t, 1-based; with the user it fixes the order of mini-batches and the draws of dropout.
        """
        plans = {int(user): self._plan(int(user), round) for user in users}
        start = torch.from_numpy(theta).to(self.device)
        if self._stack is None:
            for user, batches in plans.items():
                with self._dropout_stream(user, round):
                    local = self._train_one(start, user, batches)
                yield local
            return
        by_length = sorted(plans, key=lambda user: -len(plans[user]))
        for first in range(0, len(by_length), _STACK):
            stacked = by_length[first : first + _STACK]
            yield self._train_stack(self._stack, start, stacked, [plans[user] for user in stacked])

    def state(self) -> dict[str, NDArray[Any]]:
        """What the coming rounds depend on, to be written or copied before them; see `UserAdam.state`."""
        return self._adam.state()

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from a `state`, which is emptied on the way; nobody must have been trained yet."""
        self._adam.restore(state)

    def _plan(self, user: int, round: int) -> list[NDArray[np.int64]]:
        """Mini-batches of a user, as positions in the training split."""
        examples = self.partition.users[user]
        rng = self.streams.generator("batches", user=user, round=round)
        return [examples[b] for b in plan_batches(len(examples), self.training, self._smallest_batch, rng)]

    @contextmanager
    def _dropout_stream(self, user: int, round: int) -> Iterator[None]:
        """Make what dropout draws inside the ``with`` block a function of seed, user and round alone."""
        if not self._dropout:
            yield
            return
        seed = int(self.streams.generator("dropout", user=user, round=round).integers(2**63))
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(seed)
            yield

    def _loss(self, outputs: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        """Cross-entropy of logits (n, classes), or squared error of predictions (n, 1)."""
        if self._regression:
            return functional.mse_loss(outputs.squeeze(1), y, reduction=reduction)
        return functional.cross_entropy(outputs, y, reduction=reduction)

    def _train_one(self, start: Tensor, user: int, batches: list[NDArray[np.int64]]) -> LocalUpdates:
        """Train one user with autograd."""
        flat, loss_sum = self.flat, torch.zeros((), device=self.device)
        flat.values.copy_(start)
        flat.module.train()
        trainable = flat.values[: self.layout.n_trainable]
        self._adam.begin([user])
        for batch in batches:
            index = torch.from_numpy(batch).to(self.device)
            loss = self._loss(flat.module(self._train_x[index]), self._train_y[index])
            flat.gradient.zero_()
            torch.autograd.backward(loss)
            self._adam.step([user], [trainable], [flat.gradient])
            loss_sum += loss.detach() * len(batch)
        update = (flat.values - start).unsqueeze(0)
        n_visited = sum(map(len, batches))
        return LocalUpdates(np.array([user]), update.cpu().numpy(), float(loss_sum), n_visited)

    @torch.no_grad()
    def _train_stack(
        self, stack: StackedMlp, start: Tensor, users: list[int], plans: list[list[NDArray[np.int64]]]
    ) -> LocalUpdates:
        """Train a stack of users together; those with fewer batches, which come last, drop out early."""
        index, sizes = _pad(plans, self.training.batch_size)
        index, sizes = index.to(self.device), sizes.to(self.device)
        in_batch = torch.arange(index.shape[2], device=self.device) < sizes.unsqueeze(2)
        weight = in_batch / sizes.clamp(min=1).unsqueeze(2)
        values, gradients = list(stack.values), list(stack.gradients)
        stack.values[: len(users)] = start
        loss_sum = torch.zeros((), device=self.device)
        self._adam.begin(users)
        for step in range(index.shape[1]):
            n = sum(len(plan) > step for plan in plans)
            batch = index[:n, step]
            x = self._train_x[batch].flatten(2)
            loss = stack.backward(x, self._train_y[batch], weight[:n, step])
            self._adam.step(users[:n], values[:n], gradients[:n])
            loss_sum += (loss * in_batch[:n, step]).sum()
        updates = stack.values[: len(users)] - start
        return LocalUpdates(np.array(users), updates.cpu().numpy(), float(loss_sum), int(sizes.sum()))

    @torch.no_grad()
    def evaluate(self, theta: Vector) -> tuple[float, float]:
        """Accuracy in [0, 1] and mean loss of a model on the test split; for regression accuracy is NaN."""
        self.flat.values.copy_(torch.from_numpy(theta))
        self.flat.module.eval()
        n_correct, loss = 0, 0.0
        for start in range(0, len(self._test_y), _EVALUATION_BATCH):
            x = self._test_x[start : start + _EVALUATION_BATCH]
            y = self._test_y[start : start + _EVALUATION_BATCH]
            outputs = self.flat.module(x)
            n_correct += int((outputs.argmax(1) == y).sum())
            loss += float(self._loss(outputs, y, reduction="sum"))
        accuracy = math.nan if self._regression else n_correct / len(self._test_y)
        return accuracy, loss / len(self._test_y)


def _pixels(images: NDArray[np.uint8], device: torch.device) -> Tensor:
    """Images (n, channels, height, width) as float32 in [-1, 1], channels last: mean 0.5, std 0.5."""
    scaled = torch.from_numpy(images.astype(np.float32)).to(device).div_(127.5).sub_(1.0)
    return scaled.contiguous(memory_format=torch.channels_last)


def _features(features: NDArray[np.float32], device: torch.device) -> Tensor:
    """Features (n, p) as they are."""
    return torch.from_numpy(features).to(device)


def _pad(plans: list[list[NDArray[np.int64]]], batch_size: int) -> tuple[Tensor, Tensor]:
    """Indices (users, steps, batch) padded with 0, and the size of each batch (users, steps), 0 for none."""
    n_steps = max(map(len, plans))
    index = np.zeros((len(plans), n_steps, batch_size), np.int64)
    sizes = np.zeros((len(plans), n_steps), np.int64)
    for u, plan in enumerate(plans):
        for step, batch in enumerate(plan):
            index[u, step, : len(batch)] = batch
            sizes[u, step] = len(batch)
    return torch.from_numpy(index), torch.from_numpy(sizes)
