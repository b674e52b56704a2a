"""Dropout whose masks are a function of the user and the round, whatever the backend."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from pausefl.errors import ConfigError


class MaskedDropout(nn.Module):
    """Dropout by a given mask, the factors of `torch.nn.Dropout` in training.

    Attributes
    ----------
    probability
        Probability that a value is dropped.
    shape
        Shape of one example's values; known once the network has been applied.
    mask
        (batch, *shape) factors: 0, or 1 / (1 - probability).
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability
        self.shape: torch.Size | None = None
        self.mask: Tensor | None = None

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """A mask for a batch of n, that of `torch.nn.Dropout` on the CPU."""
        assert self.shape is not None
        keep = 1 - self.probability
        return torch.empty(n, *self.shape).bernoulli_(keep, generator=generator).div_(keep)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` (batch, *shape) with some values dropped; unchanged in evaluation."""
        self.shape = x.shape[1:]
        if not self.training:
            return x
        assert self.mask is not None
        return x * self.mask


def adopt_dropout(module: nn.Module, example: Tensor) -> list[MaskedDropout]:
    """Replace the dropout layers of ``module``; returns the new ones in order of definition.

    Parameters
    ----------
    module
        A network; changed in place.
    example
        (1, *input) an input, from which the layers learn their shapes.

    Raises
    ------
    ConfigError
        If it has a dropout layer other than `torch.nn.Dropout`, whose masks could not be repeated.
    """
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.Dropout):
                setattr(parent, name, MaskedDropout(child.p))
            elif isinstance(child, _DropoutNd):
                raise ConfigError(f"layer {type(child).__name__} is not supported: use torch.nn.Dropout")
    adopted = [child for child in module.modules() if isinstance(child, MaskedDropout)]
    if adopted:
        module.eval()(example)
    return adopted
