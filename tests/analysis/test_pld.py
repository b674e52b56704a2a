"""The tighter account: below the sums, and what one can work out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pausefl.analysis.pld import epsilons
from pausefl.privacy import (
    CoordinateMechanism,
    GeometricSchedule,
    Mechanism,
    Schedule,
    UniformSchedule,
    VectorMechanism,
)

COORDINATE, VECTOR = CoordinateMechanism(0.003), VectorMechanism(0.5)

SCHEDULES: list[Schedule] = [
    GeometricSchedule(10, 0.04),
    GeometricSchedule(40, 0.04),
    UniformSchedule(10, 100),
]


@pytest.mark.parametrize("mechanism", [COORDINATE, VECTOR])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_never_above_the_sum_and_never_falling(schedule: Schedule, mechanism: Mechanism) -> None:
    numbers = [0, 1, 2, 10, 11, 50, 100]
    found = epsilons(schedule, mechanism, numbers)
    assert list(found) == numbers
    assert found[0] == 0
    values = np.array(list(found.values()))
    assert (values <= schedule.spent(numbers)).all()
    assert (np.diff(values) >= -1e-6).all()


@pytest.mark.parametrize("mechanism", [COORDINATE, VECTOR])
def test_sums_too_large_for_the_grid_are_stated_as_they_are(mechanism: Mechanism) -> None:
    schedule = UniformSchedule(30_000, 3)
    found = epsilons(schedule, mechanism, [0, 1, 2, 3])
    assert list(found.values()) == [0, 10_000, 20_000, 30_000]


@pytest.mark.parametrize("epsilon", [0.01, 0.4, 1.57, 6.0])
@pytest.mark.parametrize("delta", [1e-5, 0.001, 0.1])
def test_one_participation_has_closed_forms(epsilon: float, delta: float) -> None:
    schedule = UniformSchedule(epsilon, 1)
    # Laplace(1) at 0 and at epsilon: the loss |x - epsilon| - |x| is e or more where x <= (epsilon - e) / 2.
    # That has chance p = 1 - exp((e - epsilon) / 2) / 2 under the one, q = exp(-(e + epsilon) / 2) / 2 under
    # the other, and delta(e) = p - e^e q = 1 - exp((e - epsilon) / 2).
    laplace = max(epsilon + 2 * math.log1p(-delta), 0)
    assert epsilons(schedule, COORDINATE, [1], delta)[1] == pytest.approx(laplace, abs=1e-3)
    # Randomised response: delta(e) = (e^epsilon - e^e) / (1 + e^epsilon).
    response = math.log(max(math.exp(epsilon) - delta * (1 + math.exp(epsilon)), 1))
    assert epsilons(schedule, VECTOR, [1], delta)[1] == pytest.approx(response, abs=1e-4)


def test_a_reported_loss_is_composed_with_the_update() -> None:
    """Two Laplace releases of half the budget are two participations of half the budget."""
    for epsilon in (0.4, 6.0):
        one, two = UniformSchedule(epsilon, 1), UniformSchedule(epsilon, 2)
        shared = epsilons(one, COORDINATE, [1], loss_share=0.5)[1]
        assert shared == pytest.approx(epsilons(two, COORDINATE, [2])[2], abs=1e-6)
        assert shared < epsilon
        mixed = epsilons(one, VECTOR, [1], loss_share=0.5)[1]
        assert shared <= mixed <= epsilon


def test_many_participations_against_the_central_limit() -> None:
    """Of n equal small budgets: a Gaussian mechanism whose loss has their mean and variance."""
    n, epsilon, delta = 2000, 0.01, 1e-3
    found = epsilons(UniformSchedule(n * epsilon, n), COORDINATE, [n], delta)[n]
    # The loss |x - eps| - |x| of Laplace(1) noise x has mean eps^2 / 2 and variance eps^2 for small eps.
    mean, std = n * epsilon**2 / 2, math.sqrt(n) * epsilon

    def below(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    gaussian = below((mean - found) / std) - math.exp(found) * below((-mean - found) / std)
    assert gaussian == pytest.approx(delta, rel=0.05)


def test_the_coordinate_account_is_below_that_of_the_worst_mechanism() -> None:
    schedule = GeometricSchedule(40, 0.04)
    one, worst = (epsilons(schedule, mechanism, [30, 50]) for mechanism in (COORDINATE, VECTOR))
    assert all(one[n] < worst[n] < float(schedule.spent(n)) for n in (30, 50))
    assert one[50] == pytest.approx(27.113, abs=0.002)
