"""Base of all training backends. They differ in speed; their updates differ by rounding only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from pausefl.data.dataset import Dataset
from pausefl.training.batches import Participation
from pausefl.training.flat import FlatModel
from pausefl.training.optimizers import UserOptimizer
from pausefl.training.settings import TrainingSettings

Vector = NDArray[np.float32]


class LocalUpdates:
    """Updates of some users of a round, before clamping and noise.

    A GPU may still be training them; all but ``users`` and ``n_visited`` wait for it.

    Attributes
    ----------
    users
        (n,) user ids.
    n_visited
        (n,) number of training examples that each visited.
    """

    def __init__(
        self,
        part: Sequence[Participation],
        updates: Tensor,
        losses: Tensor,
        squares: Tensor,
        loss_sum: Tensor | float,
    ) -> None:
        self.users: NDArray[np.int64] = np.array([p.user for p in part])
        self.n_visited: NDArray[np.int64] = np.array([p.n_visited for p in part])
        self._updates, self._losses, self._squares = updates, losses, squares
        self._loss_sum = loss_sum

    def wait(self) -> None:
        """Return once the device has trained the users."""

    @cached_property
    def updates(self) -> Vector:
        """(n, n_values) float32: local minus global model; may be overwritten."""
        self.wait()
        return self._updates.cpu().numpy()

    @property
    def losses(self) -> NDArray[np.float64]:
        """(n,) sum of the loss over the training examples that each visited."""
        self.wait()
        return self._losses.cpu().numpy().astype(np.float64)

    @property
    def squared_losses(self) -> NDArray[np.float64]:
        """(n,) sum of the squares of these losses."""
        self.wait()
        return self._squares.cpu().numpy().astype(np.float64)

    @property
    def loss_sum(self) -> float:
        """Sum of the loss over all of these, in an order of addition of its own."""
        self.wait()
        return float(self._loss_sum)


@dataclass(frozen=True)
class Workbench:
    """Everything that a backend works with.

    Attributes
    ----------
    flat
        The network.
    optimizer
        The optimizer and its state of all users.
    dataset
        The examples.
    training
        Settings of the scenario.
    device
        Where to compute.
    """

    flat: FlatModel
    optimizer: UserOptimizer
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


class Backend(ABC):
    """Local training of some users of a round, and the global model's outputs on the test split."""

    #: Most users that one call trains.
    n_together: int
    #: Types of device that it runs on.
    devices: ClassVar[tuple[str, ...]]
    #: Families of models (`pausefl.training.models.Model.family`) that it trains.
    families: ClassVar[tuple[str, ...]] = ("dense", "convolutional")
    #: Whether it trains on numbers as well as on classes.
    regression: ClassVar[bool] = True

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    @abstractmethod
    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """Train at most ``n_together`` users from the global model ``theta`` (n_values,).

        A step follows the gradient of the mean loss of a mini-batch.
        """

    @abstractmethod
    def outputs(self, theta: Vector, rows: NDArray[np.int64] | None = None) -> Tensor:
        """(n, outputs) of ``theta`` in evaluation mode: on the test split, or on some training examples."""
