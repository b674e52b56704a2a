"""A module whose values are one flat vector: updates, noise and averages are vector operations."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from pausefl.training.layout import Layout
from pausefl.training.models import is_batch_norm


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
        """Windows of another network's trainable ``values`` (n_trainable,), by parameter name."""
        windows = (window.contiguous() for window in _windows(values, self._trainable))
        return dict(zip(self._trainable, windows, strict=True))

    def buffers(self, values: Tensor) -> dict[str, Tensor]:
        """Copies of other networks' running statistics (n, n_buffers), by buffer name."""
        sizes = [tensor.numel() for tensor in self._buffers.values()]
        return {
            name: part.reshape(len(values), *tensor.shape).clone()
            for (name, tensor), part in zip(self._buffers.items(), torch.split(values, sizes, 1), strict=True)
        }


def _windows(flat: Tensor, tensors: dict[str, Tensor]) -> Iterator[Tensor]:
    """Windows of ``flat``, one after another, in the shapes of ``tensors``."""
    offset = 0
    for tensor in tensors.values():
        yield _view(flat, offset, tensor)
        offset += tensor.numel()


def _view(flat: Tensor, offset: int, like: Tensor) -> Tensor:
    """A window of ``flat`` in the shape of ``like``; 4-d tensors are laid out channels last."""
    window = flat[offset : offset + like.numel()]
    if like.dim() == 4:
        n_out, n_in, height, width = like.shape
        return window.view(n_out, height, width, n_in).permute(0, 3, 1, 2)
    return window.view(like.shape)
