"""Dropout whose draws are a function of the user and the round, however users are trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.modules.dropout import _DropoutNd

from pausefl.errors import ConfigError


class MaskedDropout(nn.Module):
    """Dropout of a given mask: what `torch.nn.Dropout` multiplies its input by while it trains.

    Attributes
    ----------
    probability
        Of a value to be dropped.
    shape
        Of one example's values here; known once the network has been applied.
    mask
        (batch, *shape) factors: 0, or 1 / (1 - probability).
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability
        self.shape: torch.Size | None = None
        self.mask: Tensor | None = None

    def sample(self, n: int, generator: torch.Generator) -> Tensor:
        """A mask for a batch of n: the draws of `torch.nn.Dropout` on the CPU."""
        assert self.shape is not None
        keep = 1 - self.probability
        return torch.empty(n, *self.shape).bernoulli_(keep, generator=generator).div_(keep)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` (batch, *shape) with some of its values dropped; in evaluation as it is."""
        self.shape = x.shape[1:]
        if not self.training:
            return x
        assert self.mask is not None
        return x * self.mask


def adopt_dropout(module: nn.Module, example: Tensor) -> list[MaskedDropout]:
    """Replace the dropout layers within ``module``; returns the new ones in order of definition.

    Parameters
    ----------
    module
        A network; changed in place.
    example
        (1, *input) an input, by which the layers learn the shape of theirs.

    Raises
    ------
    ConfigError
        If it has dropout of another kind than `torch.nn.Dropout`, whose draws could not be repeated.
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
