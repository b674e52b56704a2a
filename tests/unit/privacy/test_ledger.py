"""The account of what each user has spent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.privacy import GeometricSchedule, Ledger

SCHEDULE = GeometricSchedule(40.0, 0.04)
COLUMNS = ["user", "participations", "epsilon_coordinate", "epsilon_update", "values_unprotected"]


def ledger(schedule: GeometricSchedule | None = SCHEDULE) -> Ledger:
    return Ledger(3, n_protected=100, n_unprotected=7, schedule=schedule)


def test_nobody_has_spent_anything_at_first() -> None:
    np.testing.assert_array_equal(ledger().spent(), [0, 0, 0])
    np.testing.assert_array_equal(ledger().privacy(), [1, 1, 1])


def test_leakage_is_the_sum_of_the_budgets_used() -> None:
    account, used = ledger(), [[], [], []]
    for users in ([0, 1], [1, 2], [1], [0, 1, 2]):
        for user, epsilon in zip(users, account.next_epsilon(np.array(users)), strict=True):
            used[user].append(epsilon)
        account.record(np.array(users))
    assert [len(budgets) for budgets in used] == [2, 4, 2]
    np.testing.assert_allclose(account.spent(), [sum(budgets) for budgets in used], rtol=1e-12)
    np.testing.assert_allclose(account.privacy(), [1 - sum(budgets) / 40 for budgets in used])
    np.testing.assert_allclose(used[1], SCHEDULE.epsilon([1, 2, 3, 4]))


def test_asking_for_the_next_budget_spends_nothing() -> None:
    account = ledger()
    np.testing.assert_array_equal(
        account.next_epsilon(np.array([2, 0])), account.next_epsilon(np.array([2, 0]))
    )
    np.testing.assert_array_equal(account.spent(), [0, 0, 0])


@given(
    st.lists(st.lists(st.integers(0, 2), unique=True), max_size=60), st.floats(0.1, 100), st.floats(0.01, 1)
)
def test_leakage_never_exceeds_the_budget(rounds: list[list[int]], total: float, decay: float) -> None:
    account = ledger(GeometricSchedule(total, decay))
    for users in rounds:
        before = account.spent()
        account.record(np.array(users, dtype=np.int64))
        assert (account.spent() >= before).all()
        assert (account.spent() <= total).all()
        assert ((account.privacy() >= 0) & (account.privacy() <= 1)).all()


def test_the_budget_holds_after_any_number_of_participations() -> None:
    account = ledger()
    account.participations[:] = [1, 10**4, 10**9]
    assert (account.spent() <= 40).all()
    assert (account.privacy() >= 0).all()


def test_table_states_both_guarantees_and_what_left_unprotected() -> None:
    account = ledger()
    account.record(np.array([0, 2]))
    account.record(np.array([2]))
    table = account.table()
    assert list(table) == COLUMNS
    np.testing.assert_array_equal(table.user, [0, 1, 2])
    np.testing.assert_array_equal(table.participations, [1, 0, 2])
    np.testing.assert_allclose(table.epsilon_coordinate, SCHEDULE.spent([1, 0, 2]))
    np.testing.assert_allclose(table.epsilon_update, 100 * table.epsilon_coordinate)
    np.testing.assert_array_equal(table.values_unprotected, [7, 0, 14])


def test_without_privacy_any_participation_leaks_without_bound() -> None:
    account = Ledger(3, n_protected=0, n_unprotected=107, schedule=None)
    np.testing.assert_array_equal(account.next_epsilon(np.array([0, 1])), [np.inf, np.inf])
    account.record(np.array([0, 1]))
    np.testing.assert_array_equal(account.spent(), [np.inf, np.inf, 0])
    np.testing.assert_array_equal(account.privacy(), [1, 1, 1])
    table = account.table()
    np.testing.assert_array_equal(table.epsilon_coordinate, [np.inf, np.inf, 0])
    np.testing.assert_array_equal(table.epsilon_update, [np.inf, np.inf, 0])
    np.testing.assert_array_equal(table.values_unprotected, [107, 107, 0])


def test_a_table_does_not_change_with_later_participations() -> None:
    account = ledger()
    table = account.table()
    account.record(np.array([0]))
    assert table.participations.sum() == pytest.approx(0)
