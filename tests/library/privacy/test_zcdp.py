"""Accounts by zCDP: closed forms, and the definition by Renyi divergences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from pausefl.analysis.pld import epsilons
from pausefl.errors import ConfigError
from pausefl.privacy import (
    CoordinateMechanism,
    GeometricSchedule,
    Mechanism,
    UniformSchedule,
    VectorMechanism,
)
from pausefl.privacy.zcdp import epsilon_of, rho_for, rho_of_gaussian, rho_of_pure, rho_of_updates

MNIST = GeometricSchedule(10, 0.04)
COORDINATE, VECTOR = CoordinateMechanism(0.003), VectorMechanism(38.727)


def test_the_whole_budget_of_mnist_has_a_closed_form() -> None:
    """The squares of the budgets are a geometric series: they sum to 100 tanh(eta / 2)."""
    rho = float(rho_of_updates(MNIST, COORDINATE, math.inf, 25_818))
    assert rho == pytest.approx(25_818 / 2 * 100 * math.tanh(0.02), rel=1e-9)
    assert float(epsilon_of(rho)) == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e5)))
    assert round(float(epsilon_of(rho))) == 26_905


@pytest.mark.parametrize(("mechanism", "n_releases"), [(COORDINATE, 7), (VECTOR, 1)])
def test_equal_budgets_add_up(mechanism: Mechanism, n_releases: int) -> None:
    schedule = UniformSchedule(10, 20)
    found = rho_of_updates(schedule, mechanism, [[0, 3], [20, 25]], 7)
    # Participations beyond the schedule's last have no budget.
    np.testing.assert_allclose(found, n_releases * 0.5**2 / 2 * np.array([[0, 3], [20, 20]]))


def test_a_paid_loss_is_one_more_release() -> None:
    found = float(rho_of_updates(UniformSchedule(8, 4), COORDINATE, 3, 7, loss_share=0.25))
    assert found == pytest.approx(3 * (7 * 1.5**2 + 0.5**2) / 2)


def test_a_mechanism_that_may_not_be_pure_has_no_account() -> None:
    class Other(Mechanism):
        protects = "update"
        sensitivity = 1.0

        def clip(self, update: np.ndarray) -> None: ...

        def update_epsilon(self, epsilon: float, n: int) -> float:
            return epsilon

    assert np.isnan(rho_of_updates(MNIST, Other(), [1, 2], 7)).all()
    assert np.isnan(list(epsilons(MNIST, Other(), [1, 2]).values())).all()


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 1.0, 10.0, 26_905.0])
@pytest.mark.parametrize("delta", [1e-5, 0.3])
def test_rho_for_an_epsilon_is_the_inverse(epsilon: float, delta: float) -> None:
    assert float(epsilon_of(rho_for(epsilon, delta), delta)) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_delta_is_a_probability_in_between(delta: float) -> None:
    with pytest.raises(ConfigError, match="must be between 0 and 1"):
        epsilon_of(1.0, delta)


@pytest.mark.parametrize("epsilon", [0.1, 0.4, 1.57, 6.0])
@pytest.mark.parametrize("order", [1.01, 2.0, 8.0, 64.0])
def test_laplace_noise_keeps_rho_at_each_order(epsilon: float, order: float) -> None:
    """The divergence of Laplace(1) at 0 and at epsilon, integrated numerically, is within rho times order."""

    def density(x: float) -> float:
        return 0.5 * math.exp(-order * abs(x) + (order - 1) * abs(x - epsilon))

    parts = [(-math.inf, 0.0), (0.0, epsilon), (epsilon, math.inf)]
    divergence = math.log(sum(quad(density, *part)[0] for part in parts)) / (order - 1)
    assert divergence <= float(rho_of_pure(epsilon)) * order + 1e-9


@pytest.mark.parametrize("order", [1.5, 4.0])
def test_gaussian_noise_has_exactly_rho(order: float) -> None:
    """The divergence of two normal laws of one variance, integrated numerically."""
    apart, std = 2.0, 3.0

    def density(x: float) -> float:
        exponent = order * x**2 + (1 - order) * (x - apart) ** 2
        return math.exp(-exponent / (2 * std**2)) / (std * math.sqrt(2 * math.pi))

    divergence = math.log(quad(density, -200, 200, points=[0.0])[0]) / (order - 1)
    assert divergence == pytest.approx(float(rho_of_gaussian(apart, std)) * order, rel=1e-6)
