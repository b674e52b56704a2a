"""Gradients by hand of many dense networks equal autograd's of each."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from pausefl.models import Mlp
from pausefl.training.flat import FlatModel
from pausefl.training.stacked import StackedMlp

CPU = torch.device("cpu")
N_USERS = 4


def examples(widths: tuple[int, ...], sizes: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Padded examples, labels and weights of users with mini-batches of the given sizes."""
    n, longest = len(sizes), max(sizes)
    x, y = torch.randn(n, longest, widths[0]), torch.randint(widths[-1], (n, longest))
    real = torch.arange(longest) < torch.tensor(sizes).unsqueeze(1)
    return x, y, real / torch.tensor(sizes).unsqueeze(1)


def autograd(widths: tuple[int, ...], values: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient of the mean loss, and the loss of each example, of one user by autograd."""
    flat = FlatModel(Mlp(widths), CPU)
    flat.values.copy_(values)
    loss = functional.cross_entropy(flat.module(x), y, reduction="none")
    loss.mean().backward()
    return flat.gradient, loss.detach()


@pytest.mark.parametrize("widths", [(12, 3), (12, 7, 3), (20, 32, 16, 10)])
@pytest.mark.parametrize("sizes", [[5, 5, 5, 5], [6, 1, 3, 2], [4, 4]])
def test_gradients_and_losses_equal_autograd_for_each_user(widths: tuple[int, ...], sizes: list[int]) -> None:
    torch.manual_seed(0)
    stack = StackedMlp(widths, N_USERS, CPU)
    stack.values.normal_(std=0.5)
    x, y, weight = examples(widths, sizes)
    loss = stack.backward(x.clone(), y, weight)
    for user, size in enumerate(sizes):
        gradient, expected = autograd(widths, stack.values[user], x[user, :size], y[user, :size])
        torch.testing.assert_close(stack.gradients[user], gradient, rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(loss[user, :size], expected, rtol=1e-5, atol=1e-6)


def test_padding_has_no_influence() -> None:
    torch.manual_seed(0)
    stack = StackedMlp((5, 4, 3), N_USERS, CPU)
    stack.values.normal_()
    x, y, weight = examples((5, 4, 3), [6, 2, 3, 1])
    stack.backward(x.clone(), y, weight)
    before = stack.gradients.clone()
    padding = weight == 0
    x[padding], y[padding] = 100.0, 2
    stack.backward(x, y, weight)
    torch.testing.assert_close(stack.gradients, before, rtol=0, atol=0)


def test_users_beyond_those_given_keep_their_gradients_and_no_value_is_changed() -> None:
    torch.manual_seed(0)
    stack = StackedMlp((5, 4, 3), N_USERS, CPU)
    stack.values.normal_()
    stack.gradients.fill_(7.0)
    values, (x, y, weight) = stack.values.clone(), examples((5, 4, 3), [3, 3])
    stack.backward(x, y, weight)
    assert (stack.gradients[2:] == 7).all()
    assert (stack.gradients[:2] != 7).all()
    torch.testing.assert_close(stack.values, values, rtol=0, atol=0)


def test_examples_are_not_changed() -> None:
    stack = StackedMlp((5, 4, 3), N_USERS, CPU)
    stack.values.normal_()
    x, y, weight = examples((5, 4, 3), [3, 2])
    kept = x.clone()
    stack.backward(x, y, weight)
    torch.testing.assert_close(x, kept, rtol=0, atol=0)
