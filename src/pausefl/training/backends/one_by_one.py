"""Any module, one user after another."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from pausefl.training.backends.autograd import Autograd, entering, set_masks
from pausefl.training.backends.base import LocalUpdates, Vector
from pausefl.training.batches import Participation


class OneByOne(Autograd):
    """One user after another through one network, in channels-last memory: CNNs on the CPU."""

    n_together = 1
    devices = ("cpu",)
    #: The activations of this many images stay in a core's cache.
    evaluation_batch = 100
    memory_format = torch.channels_last

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Backend.train`."""
        (mine,) = part
        bench, flat = self.bench, self.bench.flat
        start = torch.from_numpy(theta).to(bench.device)
        flat.values.copy_(start)
        flat.module.train()
        trainable, rate = flat.values[: flat.layout.n_trainable], float(bench.training.learning_rate)
        loss_sum, squares = torch.zeros(2, device=bench.device)
        bench.optimizer.begin([mine.user])
        for batch, masks in zip(mine.batches, self.masks(mine), strict=True):
            index = torch.from_numpy(batch).to(bench.device)
            set_masks(self.dropout, masks)
            outputs, y = flat.module(entering(self.train_x[index])), self.train_y[index]
            loss = bench.loss(outputs, y)
            flat.gradient.zero_()
            torch.autograd.backward(loss)
            bench.optimizer.step(mine.user, trainable, flat.gradient, rate)
            loss_sum += loss.detach() * len(batch)
            squares += bench.loss(outputs.detach(), y, "none").square().sum()
        updates, losses = (flat.values - start).unsqueeze(0), loss_sum.unsqueeze(0)
        return LocalUpdates(part, updates, losses, squares.unsqueeze(0), loss_sum)
