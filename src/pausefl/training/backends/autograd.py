"""Ways to train users and to apply the global model: one meaning, as fast as a model and a device allow.

`OneByOne` and `Grouped` take any module and differentiate it by autograd; `Dense` is for dense networks on
the CPU. All give a user the same examples in the same order, the same optimiser and the
same draws of dropout, so their updates differ by rounding only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pausefl.data.dataset import Dataset
from pausefl.settings import TrainingSettings
from pausefl.training.adam import UserAdam
from pausefl.training.batches import Participation
from pausefl.training.dropout import MaskedDropout, adopt_dropout
from pausefl.training.flat import FlatModel

Vector = NDArray[np.float32]


class LocalUpdates:
    """Updates of some users of a round, before clamping and noise.

    On a GPU their training may still be under way; ``updates`` and ``loss_sum`` wait for it.

    Attributes
    ----------
    users
        (n,) user ids.
    n_visited
        How many training examples were visited.
    """

    def __init__(self, part: Sequence[Participation], updates: Tensor, loss_sum: Tensor | float) -> None:
        self.users: NDArray[np.int64] = np.array([p.user for p in part])
        self.n_visited = sum(p.n_visited for p in part)
        self._updates = updates
        self._loss_sum = loss_sum

    @cached_property
    def updates(self) -> Vector:
        """(n, n_values) float32: local minus global model; may be overwritten."""
        return self._updates.cpu().numpy()

    @property
    def loss_sum(self) -> float:
        """Loss summed over all training examples visited."""
        return float(self._loss_sum)


@dataclass(frozen=True)
class Workbench:
    """What every method works with.

    Attributes
    ----------
    flat
        The network.
    adam
        Optimiser state of all users.
    dataset
        The examples.
    training
        Settings of the scenario.
    device
        Where to compute.
    """

    flat: FlatModel
    adam: UserAdam
    dataset: Dataset
    training: TrainingSettings
    device: torch.device

    @property
    def regression(self) -> bool:
        """Whether targets are numbers and the loss is the squared error; else classes and cross-entropy."""
        return self.dataset.n_classes == 0

    def loss(self, outputs: Tensor, y: Tensor, reduction: str = "mean") -> Tensor:
        """Cross-entropy of logits (n, classes), or squared error of predictions (n, 1)."""
        if self.regression:
            return functional.mse_loss(outputs.squeeze(1), y, reduction=reduction)
        return functional.cross_entropy(outputs, y, reduction=reduction)


class Method(ABC):
    """Local training of some users of a round, and the global model's outputs on the test split."""

    #: Most users to be trained in one call.
    n_together: int

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    @abstractmethod
    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """Train at most ``n_together`` users from the global model ``theta`` (n_values,)."""

    @abstractmethod
    def outputs(self, theta: Vector) -> Tensor:
        """(n_test, outputs) of ``theta`` in evaluation mode."""


class Autograd(Method):
    """What the methods for any module share: the data as tensors, dropout, evaluation."""

    #: Images of one step of the evaluation.
    evaluation_batch: int
    #: In which memory format images are fastest.
    memory_format: torch.memory_format

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        data, device = bench.dataset, bench.device
        self.train_x, self.test_x = (self._inputs(x) for x in (data.train_x, data.test_x))
        self.train_y = torch.from_numpy(data.train_y).to(device)
        self.dropout = adopt_dropout(bench.flat.module, self.train_x[:1])

    def _inputs(self, x: NDArray[np.generic]) -> Tensor:
        """Images (n, channels, height, width) in [-1, 1], mean and std 0.5; features (n, p) as they are."""
        real = torch.from_numpy(x.astype(np.float32)).to(self.bench.device)
        if x.dtype != np.uint8:
            return real
        scaled = real.div_(127.5).sub_(1.0).to(torch.get_default_dtype())
        return scaled.contiguous(memory_format=self.memory_format)

    def precision(self) -> AbstractContextManager[object]:
        """Within it products of the training are computed in the scenario's precision."""
        half = self.bench.training.precision == "bfloat16"
        return torch.autocast(self.bench.device.type, torch.bfloat16, enabled=half)

    def masks(self, part: Participation) -> Iterator[list[Tensor]]:
        """For each mini-batch of a user a mask of each dropout layer."""
        generator = torch.Generator()
        if part.dropout_seed is not None:
            generator.manual_seed(part.dropout_seed)
        for batch in part.batches:
            yield [layer.draw(len(batch), generator).to(self.bench.device) for layer in self.dropout]

    @torch.no_grad()
    def outputs(self, theta: Vector) -> Tensor:
        """See `Method.outputs`."""
        flat = self.bench.flat
        flat.values.copy_(torch.from_numpy(theta))
        flat.module.eval()
        return torch.cat([flat.module(x) for x in torch.split(self.test_x, self.evaluation_batch)])


class OneByOne(Autograd):
    """One user after another through one network, in channels-last memory: CNNs on the CPU."""

    n_together = 1
    #: Activations of so many images stay in a core's cache.
    evaluation_batch = 100
    memory_format = torch.channels_last

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Method.train`."""
        (mine,) = part
        bench, flat = self.bench, self.bench.flat
        start = torch.from_numpy(theta).to(bench.device)
        flat.values.copy_(start)
        flat.module.train()
        trainable = flat.values[: flat.layout.n_trainable]
        loss_sum = torch.zeros((), device=bench.device)
        bench.adam.begin([mine.user])
        for batch, masks in zip(mine.batches, self.masks(mine), strict=True):
            index = torch.from_numpy(batch).to(bench.device)
            _set_masks(self.dropout, masks)
            with self.precision():
                loss = bench.loss(flat.module(self.train_x[index]), self.train_y[index])
            flat.gradient.zero_()
            torch.autograd.backward(loss)
            bench.adam.step([mine.user], [trainable], [flat.gradient])
            loss_sum += loss.detach() * len(batch)
        return LocalUpdates(part, (flat.values - start).unsqueeze(0), loss_sum)


class Grouped(Autograd):
    """Many users at once, each with values of its own, by vectorised application of the module: GPUs.

    At a step, users whose mini-batches have the same size go through the network together.
    """

    n_together = 64
    evaluation_batch = 1000
    memory_format = torch.contiguous_format

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Method.train`."""
        bench, n_trainable = self.bench, self.bench.flat.layout.n_trainable
        start = torch.from_numpy(theta).to(bench.device)
        values = start.repeat(len(part), 1)
        loss_sum = torch.zeros((), device=bench.device)
        masks = [self.masks(p) for p in part]
        bench.flat.module.train()
        bench.adam.begin([p.user for p in part])
        for step in range(max(len(p.batches) for p in part)):
            by_size: dict[int, list[int]] = {}
            for i, p in enumerate(part):
                if step < len(p.batches):
                    by_size.setdefault(len(p.batches[step]), []).append(i)
            for size, rows in by_size.items():
                index = torch.from_numpy(np.stack([part[i].batches[step] for i in rows])).to(bench.device)
                drawn = [torch.stack(layer) for layer in zip(*(next(masks[i]) for i in rows), strict=True)]
                trainable = values[rows, :n_trainable].requires_grad_()
                buffers = bench.flat.buffers(values[rows, n_trainable:])
                with self.precision():
                    loss = torch.vmap(self._loss, randomness="error")(
                        trainable, buffers, drawn, self.train_x[index], self.train_y[index]
                    )
                (gradient,) = torch.autograd.grad(loss.sum(), trainable)
                users, local = [part[i].user for i in rows], list(trainable.detach())
                bench.adam.step(users, local, list(gradient))
                values[rows] = torch.cat([trainable.detach(), *(b.flatten(1) for b in buffers.values())], 1)
                loss_sum += loss.detach().sum() * size
        return LocalUpdates(part, values - start, loss_sum)

    def _loss(
        self, trainable: Tensor, buffers: dict[str, Tensor], masks: list[Tensor], x: Tensor, y: Tensor
    ) -> Tensor:
        """Mean loss of one user's mini-batch; running statistics in ``buffers`` are brought up to date."""
        flat = self.bench.flat
        _set_masks(self.dropout, masks)
        values = flat.trainable(trainable) | buffers
        outputs = torch.func.functional_call(flat.module, values, (x,))
        return self.bench.loss(outputs, y)


def _set_masks(layers: list[MaskedDropout], masks: list[Tensor]) -> None:
    """Hand each dropout layer its mask."""
    for layer, mask in zip(layers, masks, strict=True):
        layer.mask = mask
