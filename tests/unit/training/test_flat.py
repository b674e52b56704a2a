"""A module and its flat vector are two views of the same numbers."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

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


def test_binding_changes_no_value(module: nn.Module) -> None:
    plain = copy.deepcopy(module)
    FlatModel(module, CPU)
    for name, values in plain.state_dict().items():
        torch.testing.assert_close(module.state_dict()[name], values, rtol=0, atol=0)


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


def test_convolutions_are_held_channels_last(module: nn.Module) -> None:
    FlatModel(module, CPU)
    for values in module.parameters():
        if values.dim() == 4:
            assert values.is_contiguous(memory_format=torch.channels_last)


def test_gradients_are_those_of_the_plain_module(module: nn.Module) -> None:
    plain, flat, (x, y) = copy.deepcopy(module), FlatModel(module, CPU), images()
    for net in (plain, flat.module):
        functional.cross_entropy(net(x), y).backward()
    for ours, theirs in zip(module.parameters(), plain.parameters(), strict=True):
        assert ours.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad)
    assert flat.gradient.abs().sum() == pytest.approx(
        sum(float(p.grad.abs().sum()) for p in plain.parameters() if p.grad is not None), rel=1e-9
    )


def test_training_the_module_changes_the_vector_and_the_other_way_round(module: nn.Module) -> None:
    flat, (x, y) = FlatModel(module, CPU), images()
    before = flat.values.clone()
    functional.cross_entropy(module(x), y).backward()
    torch.optim.SGD(module.parameters(), lr=1.0).step()
    n = flat.layout.n_trainable
    torch.testing.assert_close(flat.values[:n], before[:n] - flat.gradient)
    flat.values.fill_(0.25)
    for values in module.parameters():
        assert (values == 0.25).all()


def test_batch_normalisation_lies_behind_all_that_is_protected(module: nn.Module) -> None:
    flat = FlatModel(module, CPU)
    protected, n = flat.layout.n_protected, flat.layout.n_trainable
    flat.values[:protected], flat.values[protected:n], flat.values[n:] = 1, 2, 3
    for layer in module.modules():
        for values in layer.parameters(recurse=False):
            assert (values == (2 if is_batch_norm(layer) else 1)).all()
        for buffer in layer.buffers(recurse=False):
            assert not buffer.is_floating_point() or (buffer == 3).all()
