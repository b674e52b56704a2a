"""The networks: sizes and layers of the papers, and what may leave a user without noise."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from pausefl.errors import ConfigError
from pausefl.models import MODELS, is_batch_norm
from pausefl.training.flat import FlatModel

MNIST, CIFAR10 = (1, 28, 28), (3, 32, 32)
CPU = torch.device("cpu")


def build(name: str, shape: tuple[int, ...], norm: str, n_outputs: int = 10) -> nn.Module:
    return MODELS[name].build(shape, n_outputs, norm)


def n_trainable(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("name", "shape", "norm", "expected"),
    [("fc", MNIST, "none", 25_818), ("cnn3", CIFAR10, "batch", 170_474), ("cnn3", CIFAR10, "group", 170_474)],
)
def test_numbers_of_parameters_are_those_of_the_paper(
    name: str, shape: tuple[int, ...], norm: str, expected: int
) -> None:
    assert n_trainable(build(name, shape, norm)) == expected


@pytest.mark.parametrize(("name", "norm"), [(name, norm) for name in MODELS for norm in MODELS[name].norms])
@pytest.mark.parametrize("n_outputs", [2, 10])
def test_every_model_maps_a_batch_of_images_to_logits(name: str, norm: str, n_outputs: int) -> None:
    logits = build(name, CIFAR10, norm, n_outputs)(torch.randn(4, *CIFAR10))
    assert logits.shape == (4, n_outputs)
    assert torch.isfinite(logits).all()


def test_fc_is_two_hidden_layers_with_relu() -> None:
    layers = list(build("fc", MNIST, "none"))  # type: ignore[call-overload]
    kinds = [nn.Flatten, nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear]
    assert [type(layer) for layer in layers] == kinds
    assert [layer.out_features for layer in layers if isinstance(layer, nn.Linear)] == [32, 16, 10]


@pytest.mark.parametrize(
    ("norm", "norm_2d", "norm_1d"),
    [("batch", nn.BatchNorm2d, nn.BatchNorm1d), ("group", nn.GroupNorm, nn.GroupNorm)],
)
def test_cnn3_normalises_after_pooling_and_after_relu(
    norm: str, norm_2d: type[nn.Module], norm_1d: type[nn.Module]
) -> None:
    layers = list(build("cnn3", CIFAR10, norm))  # type: ignore[call-overload]
    block = [nn.Conv2d, nn.ReLU, nn.MaxPool2d, norm_2d]
    dense = [nn.Linear, nn.ReLU, norm_1d]
    assert [type(layer) for layer in layers] == [*block * 3, nn.Flatten, *dense * 3, nn.Linear]
    convolutions = [layer for layer in layers if isinstance(layer, nn.Conv2d)]
    assert [layer.out_channels for layer in convolutions] == [32, 64, 128]
    assert {(layer.kernel_size, layer.padding) for layer in convolutions} == {((3, 3), (0, 0))}
    widths = [(layer.in_features, layer.out_features) for layer in layers if isinstance(layer, nn.Linear)]
    # 32 -> 30 -> 15 -> 13 -> 6 -> 4 -> 2 pixels, so 128 x 2 x 2 values enter the dense part.
    assert widths == [(512, 128), (128, 64), (64, 32), (32, 10)]


def test_group_norm_leaves_nothing_without_protection() -> None:
    module = build("cnn3", CIFAR10, "group")
    assert not any(is_batch_norm(layer) for layer in module.modules())
    layout = FlatModel(module, CPU).layout
    assert layout.n_protected == layout.n_trainable == layout.n_values == 170_474


def test_batch_norm_leaves_its_weights_and_running_statistics_without_protection() -> None:
    layout = FlatModel(build("cnn3", CIFAR10, "batch"), CPU).layout
    n_features = 32 + 64 + 128 + 128 + 64 + 32
    assert layout.n_trainable == 170_474
    assert layout.n_trainable - layout.n_protected == 2 * n_features  # weight and bias
    assert layout.n_values - layout.n_trainable == 2 * n_features  # running mean and variance


def test_fc_protects_everything() -> None:
    layout = FlatModel(build("fc", MNIST, "none"), CPU).layout
    assert layout.n_protected == layout.n_trainable == layout.n_values == 25_818


@pytest.mark.parametrize("size", [8, 21])
def test_images_too_small_for_cnn3_are_refused(size: int) -> None:
    with pytest.raises(ConfigError, match=f"at least 22 x 22 pixels.*{size}, {size}"):
        build("cnn3", (1, size, size), "batch")


def test_the_smallest_images_named_in_that_message_are_accepted() -> None:
    assert build("cnn3", (1, 22, 22), "group")(torch.randn(2, 1, 22, 22)).shape == (2, 10)


def test_cnn3_counts_height_and_width_separately() -> None:
    module = build("cnn3", (1, 22, 40), "batch")
    assert n_trainable(module) > 0
    assert math.prod(module(torch.randn(2, 1, 22, 40)).shape) == 20
    with pytest.raises(ConfigError):
        build("cnn3", (1, 40, 21), "batch")
