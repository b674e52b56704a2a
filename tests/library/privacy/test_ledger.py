"""The account of what each user has spent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausefl.errors import PrivacyError
from pausefl.privacy import (
    CoordinateMechanism,
    GeometricSchedule,
    Ledger,
    Schedule,
    UniformSchedule,
    VectorMechanism,
)

SCHEDULE = GeometricSchedule(40.0, 0.04)
COLUMNS = ["user", "participations", "epsilon_coordinate", "epsilon_update", "values_unprotected"]


def ledger(schedule: Schedule = SCHEDULE) -> Ledger:
    return Ledger(3, 100, 7, schedule, CoordinateMechanism(0.012))


def test_leakage_is_the_sum_of_the_budgets_used() -> None:
    account, used = ledger(), [[], [], []]
    for users in ([0, 1], [1, 2], [1], [0, 1, 2]):
        for user, epsilon in zip(users, account.spend(np.array(users)), strict=True):
            used[user].append(epsilon)
    assert [len(budgets) for budgets in used] == [2, 4, 2]
    np.testing.assert_allclose(account.spent(), [sum(budgets) for budgets in used], rtol=1e-12)
    np.testing.assert_allclose(account.privacy(), [1 - sum(budgets) / 40 for budgets in used])
    np.testing.assert_allclose(used[1], SCHEDULE.epsilon([1, 2, 3, 4]))


def test_a_user_without_budget_cannot_take_part() -> None:
    account = ledger(UniformSchedule(3.0, 2))
    assert account.spend(np.array([0, 1])).tolist() == [1.5, 1.5]
    account.spend(np.array([1]))
    np.testing.assert_array_equal(account.may_take_part(), [True, False, True])
    with pytest.raises(PrivacyError, match="no privacy budget left for user 1"):
        account.spend(np.array([0, 1]))
    np.testing.assert_array_equal(account.participations, [1, 2, 0])  # nobody's is counted
    np.testing.assert_allclose(account.spent(), [1.5, 3, 0])


class Careless(Schedule):
    """A schedule that promises the budget and exceeds it by a thousandth at the third participation."""

    epsilon_total = 1.0

    def epsilon(self, participation: Any) -> Any:
        return np.full(np.shape(participation), 1.001 / 3)

    def spent(self, participations: Any) -> Any:
        return 1.001 / 3 * np.asarray(participations)


def test_the_filter_does_not_trust_a_schedule() -> None:
    account = ledger(Careless())
    for _ in range(2):
        account.spend(np.array([0]))
    np.testing.assert_array_equal(account.may_take_part(), [False, True, True])


def test_a_budget_whose_noise_would_overflow_is_no_budget() -> None:
    account = ledger()
    account.restore(np.array([1000, 5000, 20_000]))
    np.testing.assert_array_equal(account.may_take_part(), [True, False, False])


SCHEDULES = st.one_of(
    st.builds(GeometricSchedule, st.floats(0.01, 1000), st.floats(0.001, 2)),
    st.builds(UniformSchedule, st.floats(0.01, 1000), st.integers(1, 10**5)),
)


@given(SCHEDULES, st.integers(0, 10**5), st.integers(0, 2**32), st.integers(1, 40))
def test_nobody_ever_exceeds_the_budget(schedule: Schedule, start: int, seed: int, n_rounds: int) -> None:
    """Random selectors, from any number of earlier participations on."""
    account, rng = ledger(schedule), np.random.default_rng(seed)
    account.restore(rng.integers(0, start + 1, 3))
    for _ in range(n_rounds):
        before, wanted = account.spent(), rng.permutation(3)[: rng.integers(0, 4)]
        account.spend(wanted[account.may_take_part()[wanted]])
        assert (account.spent() >= before).all()
        assert (account.spent() <= schedule.epsilon_total).all()
        assert ((account.privacy() >= 0) & (account.privacy() <= 1)).all()


def test_table_states_both_guarantees_and_what_left_unprotected() -> None:
    account = ledger()
    account.spend(np.array([0, 2]))
    account.spend(np.array([2]))
    table = account.table()
    assert list(table) == COLUMNS
    np.testing.assert_array_equal(table.user, [0, 1, 2])
    np.testing.assert_array_equal(table.participations, [1, 0, 2])
    np.testing.assert_allclose(table.epsilon_coordinate, SCHEDULE.spent([1, 0, 2]))
    np.testing.assert_allclose(table.epsilon_update, 100 * table.epsilon_coordinate)
    np.testing.assert_array_equal(table.values_unprotected, [7, 0, 14])


def test_without_privacy_any_participation_leaks_without_bound() -> None:
    account = Ledger(3, n_protected=0, n_unprotected=107, schedule=None)
    np.testing.assert_array_equal(account.spend(np.array([0, 1])), [np.inf, np.inf])
    assert account.may_take_part().all()
    np.testing.assert_array_equal(account.spent(), [np.inf, np.inf, 0])
    np.testing.assert_array_equal(account.privacy(), [1, 1, 1])
    table = account.table()
    np.testing.assert_array_equal(table.epsilon_coordinate, [np.inf, np.inf, 0])
    np.testing.assert_array_equal(table.epsilon_update, [np.inf, np.inf, 0])
    np.testing.assert_array_equal(table.values_unprotected, [107, 107, 0])


def test_a_share_for_the_loss_is_spent_once_and_the_rest_on_every_coordinate() -> None:
    for mechanism, n in ((CoordinateMechanism(0.003), 100), (VectorMechanism(1.0), 1)):
        plain, shared = (Ledger(3, 100, 7, SCHEDULE, mechanism, share) for share in (0.0, 0.25))
        for account in (plain, shared):
            account.spend(np.array([0, 2]))
            account.spend(np.array([2]))
        spent = plain.table().epsilon_coordinate
        np.testing.assert_array_equal(shared.table().epsilon_coordinate, spent)
        np.testing.assert_allclose(plain.table().epsilon_update, n * spent)
        np.testing.assert_allclose(shared.table().epsilon_update, 0.25 * spent + 0.75 * n * spent)
        np.testing.assert_array_equal(shared.privacy(), plain.privacy())
        np.testing.assert_array_equal(shared.may_take_part(), plain.may_take_part())
