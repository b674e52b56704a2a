"""Dense networks on the CPU by compiled kernels: a user's values stay in a core's cache."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pausefl.errors import ConfigError
from pausefl.training.backends import kernels
from pausefl.training.backends.base import Backend, LocalUpdates, Vector, Workbench
from pausefl.training.batches import Participation
from pausefl.training.networks import Mlp
from pausefl.training.optimizers import BETA_1, BETA_2, EPSILON


class Dense(Backend):
    """One user after another, each in one call of a kernel, on images as bytes or on features."""

    n_together = 16
    devices, families, regression = ("cpu",), ("dense",), False
    #: Images of one step of the evaluation; their activations stay in a core's cache.
    evaluation_batch = 40

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        module = bench.flat.module
        if not isinstance(module, Mlp):
            raise ConfigError(
                f"a model of the family 'dense' must be an Mlp, not a {type(module).__name__}; say family"
                " = 'convolutional' to train it by autograd"
            )
        self.widths = module.widths
        self.train_x, self.test_x = (
            x.reshape(len(x), -1) for x in (bench.dataset.train_x, bench.dataset.test_x)
        )
        self.gradient = bench.flat.gradient.numpy()
        moments = [moment.numpy() for moment in bench.optimizer.moments.values()]
        # In place of the moments that an optimizer does not have.
        nothing = np.empty((len(bench.optimizer.steps), 0), self.gradient.dtype)
        self.first, self.second = (*moments, nothing, nothing)[:2]
        self.steps = bench.optimizer.steps.numpy()

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Backend.train`."""
        training = self.bench.training
        losses, squares, loss_sum = [], [], 0.0
        theta = theta.astype(self.gradient.dtype, copy=False)
        values = np.tile(theta, (len(part), 1))
        self.bench.optimizer.begin([p.user for p in part])
        for mine, row in zip(part, values, strict=True):
            batches, sizes = _pad(mine.batches, training.batch_size)
            loss, square = kernels.train_user(
                row,
                self.gradient,
                self.first[mine.user],
                self.second[mine.user],
                int(self.steps[mine.user]),
                float(training.learning_rate),
                training.optimizer == "adam",
                (BETA_1, BETA_2, EPSILON),
                float(training.momentum),
                self.widths,
                self.train_x,
                self.bench.dataset.train_y,
                batches,
                sizes,
            )
            self.steps[mine.user] += len(sizes)
            losses.append(loss)
            squares.append(square)
            loss_sum += loss
        values -= theta
        sums = torch.tensor([losses, squares], dtype=torch.float64)
        return LocalUpdates(part, torch.from_numpy(values), sums[0], sums[1], loss_sum)

    def outputs(self, theta: Vector, rows: NDArray[np.int64] | None = None) -> Tensor:
        """See `Backend.outputs`."""
        values = theta.astype(self.gradient.dtype, copy=False)
        inputs = self.test_x if rows is None else self.train_x[rows]
        return torch.from_numpy(kernels.outputs(values, self.widths, inputs, self.evaluation_batch))


def _pad(batches: list[NDArray[np.int64]], batch_size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Mini-batches as rows (steps, batch), padded with 0, and the size of each (steps,)."""
    sizes = np.array([len(batch) for batch in batches])
    padded = np.zeros((len(batches), batch_size), np.int64)
    padded[np.arange(batch_size) < sizes[:, np.newaxis]] = np.concatenate(batches)
    return padded, sizes
