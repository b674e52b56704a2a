"""A module whose values are one flat vector: updates, noise and averages are vector operations."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pausefl.training.layout import Layout
from pausefl.training.networks import is_batch_norm


class FlatModel:
    """A module bound to a flat vector of its values and one of its gradient.

    Convolution weights are views in channels-last order, the memory format in which CNNs run fastest on CPU.

    Attributes
    ----------
    module
        The network; it reads and writes ``values``.
    values
        (n_values,) float32.
    gradient
        (n_trainable,) float32, accumulated by ``backward``.
    layout
        Where the parts of ``values`` begin and end.
    """

    def __init__(self, module: nn.Module, device: torch.device) -> None:
        self.module = module.to(device)
        batch_norms = [m for m in module.modules() if is_batch_norm(m)]
        ids = {id(p) for m in batch_norms for p in m.parameters()}
        parameters = list(module.named_parameters())
        protected = [(name, p) for name, p in parameters if id(p) not in ids]
        unprotected = [(name, p) for name, p in parameters if id(p) in ids]
        buffers = [(name, b) for name, b in module.named_buffers() if b.is_floating_point()]
        sizes = [sum(t.numel() for _, t in group) for group in (protected, unprotected, buffers)]
        self.layout = Layout(sizes[0], sizes[0] + sizes[1], sum(sizes))
        self.values = torch.empty(self.layout.n_values, device=device)
        self.gradient = torch.zeros(self.layout.n_trainable, device=device)
        self._trainable: dict[str, Tensor] = dict([*protected, *unprotected])
        self._buffers: dict[str, Tensor] = dict(buffers)
        start = self.layout.n_trainable
        for tensors, flat in (
            (self._trainable, self.values[:start]),
            (self._buffers, self.values[start:]),
        ):
            for tensor, window in zip(tensors.values(), _windows(flat, tensors), strict=True):
                window.copy_(tensor.data)
                tensor.data = window
        for parameter, window in zip(
            self._trainable.values(), _windows(self.gradient, self._trainable), strict=True
        ):
            parameter.grad = window

    def trainable(self, values: Tensor) -> dict[str, Tensor]:
        """Windows of the trainable values (n, n_trainable) of n networks, by parameter name."""
        return dict(zip(self._trainable, _windows(values, self._trainable), strict=True))

    def buffers(self, values: Tensor) -> dict[str, Tensor]:
        """Windows of the running statistics (n, n_buffers) of n networks, by buffer name."""
        return dict(zip(self._buffers, _windows(values, self._buffers), strict=True))


def _windows(flat: Tensor, tensors: dict[str, Tensor]) -> Iterator[Tensor]:
    """Windows of ``flat`` (..., values), one after another, in the shapes (..., *shape) of ``tensors``.

    4-d shapes are laid out channels last.
    """
    sizes = [tensor.numel() for tensor in tensors.values()]
    for window, like in zip(torch.split(flat, sizes, -1), tensors.values(), strict=True):
        lead = flat.shape[:-1]
        if like.dim() == 4:
            n_out, n_in, height, width = like.shape
            yield window.view(*lead, n_out, height, width, n_in).movedim(-1, -3)
        else:
            yield window.view(*lead, *like.shape)
