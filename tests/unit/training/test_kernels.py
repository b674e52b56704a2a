"""The compiled training of a dense network: its gradient and its steps equal autograd's and PyTorch's."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

from pausefl.training.backends import kernels
from pausefl.training.flat import FlatModel
from pausefl.training.networks import Mlp
from pausefl.training.optimizers import BETA_1, BETA_2, EPSILON

CPU = torch.device("cpu")
N_EXAMPLES = 50
Vector = NDArray[np.floating[Any]]


def values_of(widths: tuple[int, ...], dtype: type, seed: int = 0) -> Vector:
    n_values = sum((n_in + 1) * n_out for n_in, n_out in pairwise(widths))
    return (np.random.default_rng(seed).standard_normal(n_values) * 0.3).astype(dtype)


def examples(widths: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (N_EXAMPLES, widths[0])).astype(np.uint8)
    return images, rng.integers(0, widths[-1], N_EXAMPLES)


def train(
    values: Vector,
    widths: tuple[int, ...],
    batches: list[list[int]],
    rate: float = 0.01,
    n_steps: int = 0,
    momentum: float | None = None,
) -> tuple[Vector, Vector, float]:
    """Values and gradient afterwards, and the summed loss; moments begin at 0. With momentum by SGD."""
    images, labels = examples(widths)
    sizes = np.array([len(batch) for batch in batches])
    padded = np.array([[*batch, *[0] * (sizes.max() - len(batch))] for batch in batches])
    found, gradient = values.copy(), np.full_like(values, 7.0)
    first, second = np.zeros_like(values), np.zeros_like(values)
    constants = (BETA_1, BETA_2, EPSILON)
    moments = (first, second, n_steps, rate, momentum is None, constants, momentum or 0.0)
    data = (widths, images, labels, padded, sizes)
    loss = kernels.train_user(found, gradient, *moments, *data)
    return found, gradient, loss


def autograd(values: Vector, widths: tuple[int, ...], batch: list[int]) -> tuple[Vector, float]:
    """Gradient of the mean loss in double precision, and the summed loss."""
    images, labels = examples(widths)
    torch.set_default_dtype(torch.float64)
    flat = FlatModel(Mlp(widths), CPU)
    torch.set_default_dtype(torch.float32)
    flat.values.copy_(torch.from_numpy(values))
    x = (torch.from_numpy(images[batch]).float() / 127.5 - 1).double()
    loss = functional.cross_entropy(flat.module(x), torch.from_numpy(labels[batch]))
    loss.backward()  # type: ignore[no-untyped-call]
    return flat.gradient.numpy(), float(loss) * len(batch)


WIDTHS = [(12, 3), (12, 7, 3), (13, 8, 5, 4), (784, 32, 16, 10)]


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_the_gradient_equals_autograd(widths: tuple[int, ...], dtype: type, tolerance: float) -> None:
    values = values_of(widths, dtype)
    for size in (1, 2, 3, 4, 5, 20):
        batch = list(range(3, 3 + size))
        _, gradient, loss = train(values, widths, [batch])
        expected, expected_loss = autograd(values, widths, batch)
        np.testing.assert_allclose(gradient, expected, atol=tolerance * np.abs(expected).max())
        assert loss == pytest.approx(expected_loss, rel=tolerance)


@pytest.mark.parametrize("n_steps", [0, 1, 5000])
def test_steps_equal_those_of_pytorchs_adam(n_steps: int) -> None:
    widths, batches = (12, 7, 3), [[1, 2, 3, 4, 5], [6], [7, 8, 9], [10, 11]]
    values = values_of(widths, np.float64)
    found, _, loss = train(values, widths, batches, rate=0.02, n_steps=n_steps)
    local = torch.from_numpy(values.copy()).requires_grad_()
    optimiser = torch.optim.Adam([local], lr=0.02)
    expected_loss = 0.0
    for i, batch in enumerate(batches):
        gradient, batch_loss = autograd(local.detach().numpy(), widths, batch)
        local.grad = torch.from_numpy(gradient.copy())
        optimiser.step()
        if i == 0:  # as after so many steps without a gradient
            optimiser.load_state_dict(_with_steps(optimiser.state_dict(), n_steps + 1))
            with torch.no_grad():
                local.copy_(torch.from_numpy(train(values, widths, [batch], 0.02, n_steps)[0]))
        expected_loss += batch_loss
    np.testing.assert_allclose(found, local.detach().numpy(), rtol=0, atol=1e-12)
    assert loss == pytest.approx(expected_loss)


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
def test_steps_equal_those_of_pytorchs_sgd(momentum: float) -> None:
    widths, batches = (12, 7, 3), [[1, 2, 3, 4, 5], [6], [7, 8, 9], [10, 11]]
    values = values_of(widths, np.float64)
    found, _, loss = train(values, widths, batches, 0.02, 0, momentum)
    local = torch.from_numpy(values.copy()).requires_grad_()
    optimiser = torch.optim.SGD([local], lr=0.02, momentum=momentum)
    expected_loss = 0.0
    for batch in batches:
        gradient, batch_loss = autograd(local.detach().numpy(), widths, batch)
        local.grad = torch.from_numpy(gradient.copy())
        optimiser.step()
        expected_loss += batch_loss
    np.testing.assert_allclose(found, local.detach().numpy(), rtol=0, atol=1e-12)
    assert loss == pytest.approx(expected_loss)


def _with_steps(state: dict[str, Any], n_steps: int) -> dict[str, Any]:
    state["state"][0]["step"] = torch.tensor(float(n_steps))
    return state


def test_what_fills_up_a_short_batch_has_no_influence() -> None:
    # After a whole batch the rows below a short one would still hold its images.
    widths = (12, 7, 3)
    values = values_of(widths, np.float64)
    _, after_whole, _ = train(values, widths, [[1, 2, 3, 4, 5, 6, 7], [8, 9]], rate=0.0)
    _, alone, _ = train(values, widths, [[8, 9]], rate=0.0)
    np.testing.assert_array_equal(after_whole, alone)


@pytest.mark.parametrize("batch", [1, 7, 40, 64])
def test_outputs_are_those_of_the_module(batch: int) -> None:
    widths = (13, 8, 5, 4)
    values, (images, _) = values_of(widths, np.float32), examples(widths)
    flat = FlatModel(Mlp(widths), CPU)
    flat.values.copy_(torch.from_numpy(values))
    with torch.no_grad():
        expected = flat.module(torch.from_numpy(images).float() / 127.5 - 1).numpy()
    np.testing.assert_allclose(kernels.outputs(values, widths, images, batch), expected, atol=1e-5)


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_so(broken: float) -> None:
    widths = (12, 7, 3)
    values = values_of(widths, np.float32)
    values[0] = broken
    images = examples(widths)[0]
    flat = FlatModel(Mlp(widths), CPU)
    flat.values.copy_(torch.from_numpy(values))
    with torch.no_grad():
        expected = flat.module(torch.from_numpy(images).float() / 127.5 - 1).isfinite().numpy()
    np.testing.assert_array_equal(np.isfinite(kernels.outputs(values, widths, images, 40)), expected)
    assert not np.isfinite(train(values, widths, [[1, 2, 3]])[0]).all()
