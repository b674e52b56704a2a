"""The layers of the networks of `pausefl.training.models`, with PyTorch's initial weights."""

from __future__ import annotations

import math
from itertools import pairwise

from torch import Tensor, nn

_GROUPS = 8
#: Numbers that stand for a token (LEAF).
_EMBEDDING = 8


def _norm(kind: str, n_features: int, n_dims: int) -> nn.Module:
    """A normalisation layer over ``n_features`` channels of 1-d (dense) or 2-d (image) inputs."""
    if kind == "batch":
        return nn.BatchNorm1d(n_features) if n_dims == 1 else nn.BatchNorm2d(n_features)
    return nn.GroupNorm(_GROUPS, n_features)


def _pooled_relu() -> tuple[nn.Module, nn.Module]:
    """ReLU and 2 x 2 max pooling, in the cheaper order.

    The maximum of clipped values is the clipped maximum, with the same gradient, on a quarter of the values.
    """
    return nn.MaxPool2d(2), nn.ReLU()


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


def fc(input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
    """Dense network 32-16 (PAUSE v2, V-A (i)): 25,818 parameters on 28 x 28 images and 10 classes."""
    return Mlp((math.prod(input_shape), 32, 16, n_outputs))


def cnn3(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
    """Three convolution blocks and four dense layers (PAUSE v2, V-A (ii)): 170,474 parameters on CIFAR-10.

    A block is a 3 x 3 convolution without padding, ReLU, 2 x 2 max pooling, normalisation; a hidden dense
    layer is followed by ReLU and normalisation.
    """
    channels, height, width = input_shape
    layers: list[nn.Module] = []
    for n_filters in (32, 64, 128):
        layers += [nn.Conv2d(channels, n_filters, 3), *_pooled_relu(), _norm(norm, n_filters, 2)]
        channels, height, width = n_filters, (height - 2) // 2, (width - 2) // 2
    layers.append(nn.Flatten())
    n_inputs = channels * height * width
    for n_units in (128, 64, 32):
        layers += [nn.Linear(n_inputs, n_units), nn.ReLU(), _norm(norm, n_units, 1)]
        n_inputs = n_units
    return nn.Sequential(*layers, nn.Linear(n_inputs, n_outputs))


def _five_convolutions(input_shape: tuple[int, ...], norm: str) -> tuple[list[nn.Module], int]:
    """The layers of both five-convolution networks up to their dense part, and the number of its inputs."""
    channels, height, width = input_shape
    layers = [
        *(nn.Conv2d(channels, 32, 3), nn.ReLU(), _norm(norm, 32, 2)),
        *(nn.Conv2d(32, 32, 3), *_pooled_relu()),
        *(nn.Conv2d(32, 64, 3), nn.ReLU(), _norm(norm, 64, 2)),
        *(nn.Conv2d(64, 64, 3), *_pooled_relu(), _norm(norm, 64, 2)),
        *(nn.Conv2d(64, 128, 4), *_pooled_relu()),
        nn.Flatten(),
    ]
    height, width = ((((side - 4) // 2 - 4) // 2 - 3) // 2 for side in (height, width))
    return layers, 128 * height * width


def cnn5(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
    """Five convolutions and three dense layers (PAUSE v2, V-A (iii)): 207,754 parameters on CIFAR-10.

    No padding, ReLU after each convolution. Normalisation follows the first convolution, the third, and the
    second pooling; dropout of 0.2 each hidden dense layer.
    """
    layers, n_inputs = _five_convolutions(input_shape, norm)
    for n_units in (64, 32):
        layers += [nn.Linear(n_inputs, n_units), nn.ReLU(), nn.Dropout(0.2)]
        n_inputs = n_units
    return nn.Sequential(*layers, nn.Linear(n_inputs, n_outputs))


def cnn5_as_run(input_shape: tuple[int, ...], n_outputs: int, norm: str) -> nn.Module:
    """`cnn5` as in the authors' log of v2's Figs. 14 and 15: 208,202 parameters on CIFAR-10.

    Normalisation in place of dropout: before the dense part and after each hidden dense layer.
    """
    layers, n_inputs = _five_convolutions(input_shape, norm)
    layers.append(_norm(norm, n_inputs, 1))
    for n_units in (64, 32):
        layers += [nn.Linear(n_inputs, n_units), nn.ReLU(), _norm(norm, n_units, 1)]
        n_inputs = n_units
    return nn.Sequential(*layers, nn.Linear(n_inputs, n_outputs))


def cnn_bsfl(input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
    """Two convolution blocks and two dense layers (BSFL, VI; sizes: deviation D63).

    A block is a 3 x 3 convolution without padding, ReLU, 2 x 2 max pooling: 225,034 parameters on
    Fashion-MNIST, 315,722 on CIFAR-10. Dropout follows the flattening and the hidden dense layer.
    """
    channels, height, width = input_shape
    layers: list[nn.Module] = []
    for n_filters in (32, 64):
        layers += [nn.Conv2d(channels, n_filters, 3), *_pooled_relu()]
        channels, height, width = n_filters, (height - 2) // 2, (width - 2) // 2
    layers += [nn.Flatten(), nn.Dropout(0.25), nn.Linear(channels * height * width, 128), nn.ReLU()]
    return nn.Sequential(*layers, nn.Dropout(0.5), nn.Linear(128, n_outputs))


def linear(input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
    """One dense layer from the features to the target (BSFL, VI): 11 parameters on 10 features."""
    return Mlp((math.prod(input_shape), n_outputs))


def token_mlp(input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
    """An embedding of 8 and a hidden layer of 128 on all tokens (Bengio et al. 2003).

    93,008 parameters on windows of 80 characters of an alphabet of 80. Its layers are products, so the
    engine trains many users in one of them, in which no user's arithmetic touches another's.
    """
    length, n_symbols = input_shape
    return nn.Sequential(
        *(nn.Embedding(n_symbols, _EMBEDDING), nn.Flatten()),
        *(nn.Linear(length * _EMBEDDING, 128), nn.ReLU(), nn.Linear(128, n_outputs)),
    )


class LastLstm(nn.LSTM):
    """LSTMs one above the other; the output is that of the last one after the last token."""

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Of sequences (batch, length, inputs): the last state (batch, units)."""
        return super().forward(x)[0][:, -1]


def token_lstm(input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
    """An embedding of 8, two LSTMs of 256 and a dense layer (McMahan et al. 2017; LEAF's for Shakespeare).

    819,920 parameters for an alphabet of 80. The steps of a sequence depend on each other, and users are not
    put side by side in them: each is trained alone, on the CPU.
    """
    _, n_symbols = input_shape
    lstm = LastLstm(_EMBEDDING, 256, num_layers=2, batch_first=True)
    return nn.Sequential(nn.Embedding(n_symbols, _EMBEDDING), lstm, nn.Linear(256, n_outputs))


def token_lstm_small(input_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
    """An embedding of 8, one LSTM of 128 and a dense layer: 79,561 parameters for an alphabet of 65.

    Trained as `token_lstm` is, on the CPU; a mini-batch takes a tenth of its time.
    """
    _, n_symbols = input_shape
    lstm = LastLstm(_EMBEDDING, 128, batch_first=True)
    return nn.Sequential(nn.Embedding(n_symbols, _EMBEDDING), lstm, nn.Linear(128, n_outputs))


def is_batch_norm(module: nn.Module) -> bool:
    """Whether a module keeps batch statistics, which are released without noise (deviation D9)."""
    return isinstance(module, nn.modules.batchnorm._BatchNorm)


def has_dropout(module: nn.Module) -> bool:
    """Whether any layer of a module samples random numbers in training."""
    return any(isinstance(m, nn.modules.dropout._DropoutNd) for m in module.modules())
