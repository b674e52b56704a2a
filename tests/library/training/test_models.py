"""The networks: sizes and layers of the papers, and what may leave a user without noise."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import nn

from pausefl.errors import ConfigError
from pausefl.settings import ModelSettings
from pausefl.training.flat import FlatModel
from pausefl.training.networks import is_batch_norm

MNIST, CIFAR10, FEATURES = (1, 28, 28), (3, 32, 32), (10,)
CPU = torch.device("cpu")


def build(name: str, shape: tuple[int, ...], norm: str, n_outputs: int = 10) -> nn.Module:
    return ModelSettings(name=name, norm=norm).build(shape, n_outputs)


@pytest.mark.parametrize(
    ("name", "shape", "norm", "expected"),
    [
        ("fc", MNIST, "none", 25_818),
        ("cnn3", CIFAR10, "group", 170_474),
        ("cnn5", CIFAR10, "batch", 207_754),
        ("cnn5_as_run", CIFAR10, "group", 208_202),
        ("cnn_bsfl", MNIST, "none", 225_034),
        ("cnn_bsfl", CIFAR10, "none", 315_722),
    ],
)
def test_numbers_of_parameters_are_the_documented_ones(
    name: str, shape: tuple[int, ...], norm: str, expected: int
) -> None:
    parameters = build(name, shape, norm).parameters()
    assert sum(parameter.numel() for parameter in parameters) == expected


@pytest.mark.parametrize(
    ("norm", "norm_2d", "norm_1d"),
    [("batch", nn.BatchNorm2d, nn.BatchNorm1d), ("group", nn.GroupNorm, nn.GroupNorm)],
)
def test_layers_are_those_of_the_papers(
    norm: str, norm_2d: type[nn.Module], norm_1d: type[nn.Module]
) -> None:
    block, dense = [nn.Conv2d, nn.MaxPool2d, nn.ReLU, norm_2d], [nn.Linear, nn.ReLU, norm_1d]
    double = [nn.Conv2d, nn.ReLU, norm_2d, nn.Conv2d, nn.MaxPool2d, nn.ReLU]
    dropped = [nn.Linear, nn.ReLU, nn.Dropout]
    single = [nn.Conv2d, nn.MaxPool2d, nn.ReLU, nn.Flatten]
    for name, kinds, channels, widths in (
        # 32 -> 30 -> 15 -> 13 -> 6 -> 4 -> 2 pixels, so 128 x 2 x 2 values enter the dense part.
        ("cnn3", [*block * 3, nn.Flatten, *dense * 3, nn.Linear], [32, 64, 128], [512, 128, 64, 32, 10]),
        # 32 -> 30 -> 28 -> 14 -> 12 -> 10 -> 5 -> 2 -> 1 pixel, so 128 values enter the dense part.
        (
            "cnn5",
            [*double, *double, norm_2d, *single, *dropped * 2, nn.Linear],
            [32, 32, 64, 64, 128],
            [128, 64, 32, 10],
        ),
    ):
        layers = list(build(name, CIFAR10, norm))  # type: ignore[call-overload]
        assert [type(layer) for layer in layers] == kinds
        convolutions = [layer for layer in layers if isinstance(layer, nn.Conv2d)]
        assert [layer.out_channels for layer in convolutions] == channels
        assert [layer.kernel_size for layer in convolutions[:4]] == [(3, 3)] * len(channels[:4])
        assert {layer.padding for layer in convolutions} == {(0, 0)}
        groups = [layer.num_groups for layer in layers if isinstance(layer, nn.GroupNorm)]
        assert groups == [8] * len(groups)
        made = [(layer.in_features, layer.out_features) for layer in layers if isinstance(layer, nn.Linear)]
        assert made == list(pairwise(widths))
        assert {layer.p for layer in layers if isinstance(layer, nn.Dropout)} <= {0.2}


def test_batch_norm_leaves_its_weights_and_running_statistics_without_protection() -> None:
    layout = FlatModel(build("cnn3", CIFAR10, "batch"), CPU).layout
    n_features = 32 + 64 + 128 + 128 + 64 + 32
    assert layout.n_trainable == 170_474
    assert layout.n_trainable - layout.n_protected == 2 * n_features  # weight and bias
    assert layout.n_values - layout.n_trainable == 2 * n_features  # running mean and variance


@pytest.mark.parametrize("norm", ["batch", "group"])
def test_batch_normalisation_lies_behind_all_that_is_protected(norm: str) -> None:
    module = build("cnn3", CIFAR10, norm)
    flat = FlatModel(module, CPU)
    protected, n = flat.layout.n_protected, flat.layout.n_trainable
    assert (protected == n == flat.layout.n_values) == (norm == "group")  # nothing is left without
    flat.values[:protected], flat.values[protected:n], flat.values[n:] = 1, 2, 3
    for layer in module.modules():
        for values in layer.parameters(recurse=False):
            assert (values == (2 if is_batch_norm(layer) else 1)).all()
        for buffer in layer.buffers(recurse=False):
            assert not buffer.is_floating_point() or (buffer == 3).all()


@pytest.mark.parametrize(("name", "expected"), [("token_mlp", 93_008), ("token_lstm", 819_920)])
def test_numbers_of_parameters_of_windows_of_80_characters_of_80(name: str, expected: int) -> None:
    module = build(name, (80, 80), "none", n_outputs=80)
    assert sum(parameter.numel() for parameter in module.parameters()) == expected
    assert module(torch.randint(80, (3, 80))).shape == (3, 80)


def test_the_small_lstm_is_one_of_128_on_an_embedding_of_8() -> None:
    module = build("token_lstm_small", (80, 65), "none", n_outputs=65)
    embedding, lstm, dense = module  # type: ignore[misc]
    assert (embedding.num_embeddings, embedding.embedding_dim) == (65, 8)
    assert (lstm.input_size, lstm.hidden_size, lstm.num_layers, lstm.bidirectional) == (8, 128, 1, False)
    assert (dense.in_features, dense.out_features) == (128, 65)
    assert sum(parameter.numel() for parameter in module.parameters()) == 79_561
    assert module(torch.randint(65, (3, 80))).shape == (3, 65)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("fc", (5, 9), r"'fc' takes numbers, and the data set has token ids: .*\(token_mlp, token_lstm, tok"),
        ("cnn_bsfl", (5, 9), "takes numbers"),
        ("token_mlp", MNIST, "'token_mlp' needs token ids, which the data set does not have"),
        ("token_lstm", FEATURES, "needs token ids"),
    ],
)
def test_token_ids_and_numbers_are_not_mixed_up(name: str, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(name, shape, "none")


SMALLEST = [
    ("cnn3", "group", 22),
    ("cnn5", "group", 32),
    ("cnn5_as_run", "group", 32),
    ("cnn_bsfl", "none", 10),
]


@pytest.mark.parametrize(("name", "norm", "smallest"), SMALLEST)
def test_images_too_small_for_a_model_are_refused(name: str, norm: str, smallest: int) -> None:
    size = smallest - 1
    with pytest.raises(ConfigError, match=f"{name} needs.* {smallest} x {smallest} pixels.*{size}, {size}"):
        build(name, (1, size, size), norm)
    assert build(name, (1, smallest, smallest), norm)(torch.randn(2, 1, smallest, smallest)).shape == (2, 10)
