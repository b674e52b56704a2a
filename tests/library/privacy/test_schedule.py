"""The budget of each participation, and that all of them together never exceed the total."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.plugins import OwnPartError
from pausefl.privacy import GeometricSchedule, Ledger, UniformSchedule
from pausefl.privacy.schedule import Schedule

schedules = st.builds(GeometricSchedule, st.floats(0.01, 1000), st.floats(0.001, 2))


def test_first_budgets_of_the_papers_schedule() -> None:
    # eps_1 = eps_bar (e^eta - 1) e^-eta = eps_bar (1 - e^-eta), and each is e^-eta times the one before.
    schedule = GeometricSchedule(40.0, 0.04)
    first = 40 * (1 - math.exp(-0.04))
    np.testing.assert_allclose(schedule.epsilon([1, 2, 3]), [first, first * 0.96078944, first * 0.92311635])
    assert first == pytest.approx(1.568422, abs=1e-6)


#: The settings' least and largest decays, and those where e^x or e^-x leaves the range of a float.
DECAYS = [1e-12, 1e-6, 0.04, 1.0, 300.0, 400.0, 699.0, 701.0, 708.0, 710.0, 1e3, 1e6]


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("total", [1e-12, 40.0, 1e12])
@pytest.mark.filterwarnings("error")
def test_a_budget_is_exact_for_every_decay(total: float, decay: float) -> None:
    schedule = GeometricSchedule(total, decay)
    for i in (1, 2, 3, 17, 1000, 10**9):
        with decimal.localcontext(prec=60):
            eta = decimal.Decimal(decay)
            exact = decimal.Decimal(total) * (1 - (-eta).exp()) * (-eta * (i - 1)).exp()
            spent = decimal.Decimal(total) * (1 - (-eta * i).exp())
        if exact > 1e-290:
            assert schedule.epsilon(i) == pytest.approx(float(exact), rel=1e-12)
        else:
            assert schedule.epsilon(i) <= 1e-289
        assert schedule.spent(i) == pytest.approx(float(spent), rel=1e-12)


def test_budgets_of_published_runs_keep_their_bits() -> None:
    i = np.arange(1, 10_001)
    for total in (10.0, 40.0, 200.0):
        np.testing.assert_array_equal(
            GeometricSchedule(total, 0.04).epsilon(i), total * np.expm1(0.04) * np.exp(-0.04 * i)
        )


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


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (lambda n: 0.0 * n, r"schedule '.*:Own' spends 20 in 1 participations, and says 0"),
        (lambda n: 20.0 * n + 1, "in 0 participations, and says 1"),
        (lambda n: math.nan * n, "and says nan"),
        (lambda n: 1 // 0, "failed when its sums were checked: .*ZeroDivisionError"),
    ],
)
def test_a_schedule_of_ones_own_must_account_for_what_it_spends(spent: Any, words: str) -> None:
    class Own(Schedule):
        epsilon_total = 40.0

        def epsilon(self, participation: Any) -> Any:
            return np.where(np.asarray(participation) <= 2, 20.0, 0.0)

        def spent(self, participations: Any) -> Any:
            return spent(np.asarray(participations))

    with pytest.raises(OwnPartError, match=words):
        Ledger(3, 1, 0, Own())
    Own.spent = lambda self, n: 20.0 * np.minimum(n, 2)  # type: ignore[method-assign]
    assert Ledger(3, 1, 0, Own()).may_take_part().all()
