"""The layers of many users in one network, side by side in its channels.

Images are (batch, users * channels, height, width), so batch normalisation has a channel for each user and
channel. Token ids are (batch, users * length), and what stands for them has an axis more. After
`torch.nn.Flatten`, values are (users, features, batch). Convolutions and dense layers are
batched products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pausefl.errors import ConfigError
from pausefl.training.dropout import MaskedDropout

#: A layer of all users: (layer, values, users, its parameters and statistics (users, ...)) -> values.
Layer = Callable[..., Tensor]


def _convolution(layer: nn.Conv2d, x: Tensor, n: int, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """One batched product of filters and patches; for one with a group a user cuDNN may find no algorithm."""
    if any(margins := layer._reversed_padding_repeated_twice):
        x = functional.pad(x, margins)
    patches = functional.unfold(x, layer.kernel_size, layer.dilation, stride=layer.stride)
    n_groups = n * layer.groups
    patches = patches.view(len(x), n_groups, -1, patches.shape[2]).permute(1, 2, 0, 3).flatten(2)
    filters = weight.reshape(n_groups, -1, patches.shape[1])
    out = _products(patches, filters, None if bias is None else bias.reshape(n_groups, -1))
    each = zip(x.shape[2:], layer.kernel_size, layer.dilation, layer.stride, strict=True)
    sides = [(side - gap * (kernel - 1) - 1) // step + 1 for side, kernel, gap, step in each]
    return out.view(n_groups, -1, len(x), *sides).permute(2, 0, 1, 3, 4).flatten(1, 2)


def _dense(layer: nn.Module, x: Tensor, n: int, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return _products(x, weight, bias)


def _products(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Of each of n: (outputs, inputs) by (inputs, columns), and a bias (outputs,)."""
    return weight @ x if bias is None else torch.baddbmm(bias.unsqueeze(2), weight, x)


def _embedding(layer: nn.Embedding, x: Tensor, n: int, weight: Tensor) -> Tensor:
    """Rows of each user's table, as a product with indicators: its gradient has no scattered sums."""
    symbols = torch.arange(layer.num_embeddings, device=x.device)
    chosen = (x.view(len(x), n, -1, 1) == symbols).to(weight.dtype).permute(1, 0, 2, 3)
    rows = chosen.flatten(1, 2) @ weight
    return rows.view(*chosen.shape[:3], -1).permute(1, 0, 2, 3).flatten(1, 2)


def _batch_norm(
    layer: nn.BatchNorm2d,
    x: Tensor,
    n: int,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
) -> Tensor:
    """Normalise each channel of each user; brings the running statistics up to date."""
    channels = x if x.dim() == 4 else x.reshape(1, -1, x.shape[2])
    statistics = running_mean.view(-1), running_var.view(-1)
    affine, momentum = (weight.flatten(), bias.flatten()), layer.momentum or 0.0
    normal = functional.batch_norm(channels, *statistics, *affine, True, momentum, layer.eps)
    return normal.view(x.shape)


def _group_norm(layer: nn.GroupNorm, x: Tensor, n: int, weight: Tensor, bias: Tensor) -> Tensor:
    """Normalise each example of each user in each group of its channels."""
    examples = x if x.dim() == 4 else x.permute(2, 0, 1).flatten(1)
    n_groups, scale, shift = layer.num_groups * n, weight.flatten(), bias.flatten()
    normal = functional.group_norm(examples, n_groups, scale, shift, layer.eps)
    return normal if x.dim() == 4 else normal.view(-1, n, x.shape[1]).permute(1, 2, 0)


def _flatten(layer: nn.Flatten, x: Tensor, n: int) -> Tensor:
    return x.reshape(len(x), n, -1).permute(1, 2, 0)


def _dropout(layer: MaskedDropout, x: Tensor, n: int) -> Tensor:
    assert layer.mask is not None
    if x.dim() == 4:
        return x * layer.mask.view(x.shape)
    return x * layer.mask.view(-1, n, x.shape[1]).permute(1, 2, 0)


def _alike(layer: nn.Module, x: Tensor, n: int) -> Tensor:
    return layer(x)  # type: ignore[no-any-return]


#: How each type of layer is computed for all users.
LAYERS: dict[type[nn.Module], Layer] = {
    nn.Conv2d: _convolution,
    nn.Linear: _dense,
    nn.Embedding: _embedding,
    nn.BatchNorm1d: _batch_norm,
    nn.BatchNorm2d: _batch_norm,
    nn.GroupNorm: _group_norm,
    nn.Flatten: _flatten,
    MaskedDropout: _dropout,
    **dict.fromkeys((nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Identity, nn.MaxPool2d, nn.AvgPool2d), _alike),
}


#: Options of layers that must be as they usually are.
_PLAIN = {"padding_mode": "zeros", "padding_idx": None, "max_norm": None, "scale_grad_by_freq": False}


def stacked(module: nn.Module, path: str = "") -> Iterator[tuple[Layer, Any, dict[str, str]]]:
    """How to compute each layer, the layer, and paths of its values by name.

    Raises
    ------
    ConfigError
        If it has another layer, or is not a sequence of layers.
    """
    if type(module).forward is nn.Sequential.forward:
        for name, child in module.named_children():
            yield from stacked(child, f"{path}{name}.")
        return
    plain = all(getattr(module, name, usual) == usual for name, usual in _PLAIN.items())
    if type(module) not in LAYERS or not plain:
        raise ConfigError(
            f"a GPU cannot train the layer {module} of the model: use --device cpu, or add it to {__name__}"
        )
    values = [*module.named_parameters(), *module.named_buffers()]
    yield LAYERS[type(module)], module, {name: path + name for name, v in values if v.is_floating_point()}
