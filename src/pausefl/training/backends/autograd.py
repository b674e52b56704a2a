"""Base of the backends that train any module by autograd."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pausefl.training.backends.base import Backend, Vector, Workbench
from pausefl.training.batches import Participation
from pausefl.training.dropout import MaskedDropout, adopt_dropout


class Autograd(Backend):
    """Data as tensors, dropout masks and evaluation, for any module."""

    #: Images of one step of the evaluation.
    evaluation_batch: int
    #: Memory format in which images are fastest.
    memory_format: torch.memory_format

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        data, device = bench.dataset, bench.device
        self.train_x, self.test_x = (self._inputs(x) for x in (data.train_x, data.test_x))
        self.train_y = torch.from_numpy(data.train_y).to(device)
        self.dropout = adopt_dropout(bench.flat.module, entering(self.train_x[:1]))

    def _inputs(self, x: NDArray[np.generic]) -> Tensor:
        """Images (n, channels, height, width) in [-1, 1], mean and std 0.5; features (n, p) as they are.

        Token ids (n, length) stay integers, of as few bytes as they came in; `entering` widens a mini-batch.
        """
        if self.bench.dataset.n_symbols:
            return torch.from_numpy(x).to(self.bench.device)
        real = torch.from_numpy(x.astype(np.float32)).to(self.bench.device)
        if x.dtype != np.uint8:
            return real.to(torch.get_default_dtype())
        scaled = real.div_(127.5).sub_(1.0).to(torch.get_default_dtype())
        return scaled.contiguous(memory_format=self.memory_format)

    def masks(self, part: Participation) -> Iterator[list[Tensor]]:
        """A mask of each dropout layer, on the CPU, for each mini-batch of a user."""
        generator = torch.Generator()
        if part.dropout_seed is not None:
            generator.manual_seed(part.dropout_seed)
        for batch in part.batches:
            yield [layer.sample(len(batch), generator) for layer in self.dropout]

    @torch.no_grad()
    def outputs(self, theta: Vector, rows: NDArray[np.int64] | None = None) -> Tensor:
        """See `Backend.outputs`."""
        flat, inputs = self.bench.flat, self.test_x
        if rows is not None:
            inputs = self.train_x[torch.from_numpy(rows).to(self.bench.device)]
        flat.values.copy_(torch.from_numpy(theta))
        flat.module.eval()
        return torch.cat([flat.module(entering(x)) for x in torch.split(inputs, self.evaluation_batch)])


def entering(x: Tensor) -> Tensor:
    """Examples as a network takes them: token ids are int64."""
    return x if x.is_floating_point() else x.long()


def set_masks(layers: list[MaskedDropout], masks: list[Tensor]) -> None:
    """Hand each dropout layer its mask."""
    for layer, mask in zip(layers, masks, strict=True):
        layer.mask = mask
