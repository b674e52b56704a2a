"""Any module, many users at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pausefl.training.backends.autograd import Autograd, set_masks
from pausefl.training.backends.base import LocalUpdates, Vector
from pausefl.training.batches import Participation


class Grouped(Autograd):
    """Many users at once, each with its own values, by a vectorised call of the module: GPUs.

    At each step, users whose mini-batches have the same size go through the network together.
    """

    n_together = 64
    evaluation_batch = 1000
    memory_format = torch.contiguous_format

    def train(self, theta: Vector, part: Sequence[Participation]) -> LocalUpdates:
        """See `Backend.train`."""
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
        set_masks(self.dropout, masks)
        values = flat.trainable(trainable) | buffers
        outputs = torch.func.functional_call(flat.module, values, (x,))
        return self.bench.loss(outputs, y)
