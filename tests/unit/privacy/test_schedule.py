"""The budget of each participation, and that all of them together never exceed the total."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.privacy import GeometricSchedule, UniformSchedule

schedules = st.builds(GeometricSchedule, st.floats(0.01, 1000), st.floats(0.001, 2))


def test_first_budgets_of_the_papers_schedule() -> None:
    # eps_1 = eps_bar (e^eta - 1) e^-eta = eps_bar (1 - e^-eta), and each is e^-eta times the one before.
    schedule = GeometricSchedule(40.0, 0.04)
    first = 40 * (1 - math.exp(-0.04))
    np.testing.assert_allclose(schedule.epsilon([1, 2, 3]), [first, first * 0.96078944, first * 0.92311635])
    assert first == pytest.approx(1.568422, abs=1e-6)


@pytest.mark.parametrize("total", [10.0, 40.0, 200.0])
def test_budgets_sum_to_the_total(total: float) -> None:
    assert GeometricSchedule(total, 0.04).epsilon(np.arange(1, 2000)).sum() == pytest.approx(total, rel=1e-12)


@given(schedules)
def test_spent_is_the_cumulative_sum_of_the_budgets(schedule: GeometricSchedule) -> None:
    epsilon = schedule.epsilon(np.arange(1, 101))
    np.testing.assert_allclose(schedule.spent(np.arange(1, 101)), np.cumsum(epsilon), rtol=1e-10)
    assert schedule.spent(0) == 0


@given(schedules, st.integers(0, 10**9))
def test_no_number_of_participations_exceeds_the_total(schedule: GeometricSchedule, n: int) -> None:
    assert 0 <= schedule.spent(n) <= schedule.epsilon_total


@pytest.mark.parametrize("total", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("n", [1, 3, 7, 1000])
def test_a_uniform_schedule_ends_with_its_budget(total: float, n: int) -> None:
    schedule = UniformSchedule(total, n)
    np.testing.assert_allclose(schedule.epsilon([1, n]), [total / n, total / n])
    assert schedule.epsilon(n + 1) == 0
    assert schedule.spent([0, n, n + 1, 10**6]).tolist() == [0, total, total, total]
