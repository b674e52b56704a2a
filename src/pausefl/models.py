"""The networks of the papers. Adding one is a function and a line of `MODELS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from torch import nn

from pausefl.errors import ConfigError

_GROUPS = 8


def _norm(kind: str, n_features: int, n_dims: int) -> nn.Module:
    """A normalisation layer over ``n_features`` channels of 1-d (dense) or 2-d (image) inputs."""
    if kind == "batch":
        return nn.BatchNorm1d(n_features) if n_dims == 1 else nn.BatchNorm2d(n_features)
    return nn.GroupNorm(_GROUPS, n_features)


class Mlp(nn.Sequential):
    """Flatten, then dense layers of the given widths with ReLU between them.

    Parameters
    ----------
    widths
        Number of inputs, of each hidden layer's units, and of outputs.
    """

    def __init__(self, widths: tuple[int, ...]) -> None:
        layers: list[nn.Module] = [nn.Flatten()]
        for n_in, n_out in pairwise(widths):
            layers += [nn.Linear(n_in, n_out), nn.ReLU()]
        super().__init__(*layers[:-1])
        self.widths = widths


def fc(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
    """Dense network 32-16 (PAUSE v2, V-A (i)): 25,818 parameters on 28 x 28 images and 10 classes."""
    n_inputs = 1
    for size in input_shape:
        n_inputs *= size
    return Mlp((n_inputs, 32, 16, n_outputs))


def cnn3(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
    """Three convolution blocks and four dense layers (PAUSE v2, V-A (ii)): 170,474 parameters on CIFAR-10.

    A block is a 3 x 3 convolution without padding, ReLU, 2 x 2 max pooling, normalisation; a hidden dense
    layer is followed by ReLU and normalisation.
    """
    channels, height, width = input_shape
    layers: list[nn.Module] = []
    for n_filters in (32, 64, 128):
        layers += [nn.Conv2d(channels, n_filters, 3), nn.ReLU(), nn.MaxPool2d(2), _norm(norm, n_filters, 2)]
        channels, height, width = n_filters, (height - 2) // 2, (width - 2) // 2
    if min(height, width) < 1:
        raise ConfigError(f"model cnn3 needs images of at least 22 x 22 pixels, got {input_shape[1:]}")
    layers.append(nn.Flatten())
    n_inputs = channels * height * width
    for n_units in (128, 64, 32):
        layers += [nn.Linear(n_inputs, n_units), nn.ReLU(), _norm(norm, n_units, 1)]
        n_inputs = n_units
    return nn.Sequential(*layers, nn.Linear(n_inputs, n_outputs))


@dataclass(frozen=True)
class ModelInfo:
    """A network that can be trained.

    Attributes
    ----------
    build
        Makes the module from (input shape, number of outputs, normalisation).
    norms
        Values of ``model.norm`` that apply.
    """

    build: Callable[[tuple[int, ...], int, str], nn.Module]
    norms: tuple[str, ...]


MODELS: dict[str, ModelInfo] = {
    "fc": ModelInfo(fc, norms=("none",)),
    "cnn3": ModelInfo(cnn3, norms=("batch", "group")),
}


def is_batch_norm(module: nn.Module) -> bool:
    """Whether a module keeps batch statistics, which leave a user without noise (deviation D9)."""
    return isinstance(module, nn.modules.batchnorm._BatchNorm)
