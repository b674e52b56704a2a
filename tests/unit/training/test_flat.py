"""A module and its flat vector are two views of the same numbers."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from pausefl.settings import ModelSettings
from pausefl.training.flat import FlatModel
from pausefl.training.networks import is_batch_norm

CPU = torch.device("cpu")
SHAPE = (3, 22, 24)


pytestmark = pytest.mark.usefixtures("double_precision")


@pytest.fixture(params=[("fc", "none"), ("cnn3", "batch"), ("cnn3", "group")], ids="-".join)
def module(request: pytest.FixtureRequest) -> nn.Module:
    name, norm = request.param
    torch.manual_seed(0)
    module = ModelSettings(name=name, norm=norm).build(SHAPE, 5)
    for values in [*module.parameters(), *(b for b in module.buffers() if b.is_floating_point())]:
        values.data += 0.1 * torch.rand_like(values)  # no two parts alike
    return module


def images(n: int = 6) -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    return torch.randn(n, *SHAPE), torch.randint(5, (n,))


@pytest.mark.parametrize("training", [True, False])
def test_outputs_and_running_statistics_are_those_of_the_plain_module(
    module: nn.Module, training: bool
) -> None:
    plain = copy.deepcopy(module).train(training)
    FlatModel(module, CPU).module.train(training)
    x, _ = images()
    channels_last = x.contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(module(channels_last), plain(x))
    for name, values in plain.state_dict().items():
        torch.testing.assert_close(module.state_dict()[name], values)


def test_batch_normalisation_lies_behind_all_that_is_protected(module: nn.Module) -> None:
    flat = FlatModel(module, CPU)
    protected, n = flat.layout.n_protected, flat.layout.n_trainable
    flat.values[:protected], flat.values[protected:n], flat.values[n:] = 1, 2, 3
    for layer in module.modules():
        for values in layer.parameters(recurse=False):
            assert (values == (2 if is_batch_norm(layer) else 1)).all()
        for buffer in layer.buffers(recurse=False):
            assert not buffer.is_floating_point() or (buffer == 3).all()
