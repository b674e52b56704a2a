"""What participations add up to, when a budget is spent, and what rounds and ledgers say of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import pausefl
from pausefl.analysis.pld import epsilons
from pausefl.errors import ConfigError
from pausefl.plugins import OwnPartError
from pausefl.privacy import (
    Accountant,
    ConstantSchedule,
    CoordinateMechanism,
    GeometricSchedule,
    Ledger,
    Mechanism,
    PrivacySettings,
    PureAccountant,
    Schedule,
    UniformSchedule,
    VectorMechanism,
    ZcdpAccountant,
)
from pausefl.privacy.accountants import unaffordable

DELTA = 1e-5
ZCDP = ZcdpAccountant(DELTA)
COORDINATE, VECTOR = CoordinateMechanism(0.003), VectorMechanism(1.0)


def by_hand(budgets: list[float], delta: float = DELTA) -> float:
    """Epsilon of some releases: Bun and Steinke 2016, Propositions 1.3 and 1.4."""
    rho = sum(epsilon**2 / 2 for epsilon in budgets)
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def spend_all(account: Ledger, most: int = 500) -> list[float]:
    """Budgets that user 0 may spend, one after another."""
    budgets = list[float]()
    while account.may_take_part()[0] and len(budgets) < most:
        budgets += account.spend(np.array([0])).tolist()
    return budgets


SCHEDULES = st.one_of(
    st.builds(GeometricSchedule, st.floats(0.1, 1000), st.floats(0.01, 2)),
    st.builds(UniformSchedule, st.floats(0.1, 1000), st.integers(1, 1000)),
    st.builds(ConstantSchedule, st.floats(0.1, 100), st.floats(0.05, 10)),
)


@given(SCHEDULES, st.floats(1e-9, 0.5))
def test_by_zcdp_the_longest_run_of_budgets_within_the_total_is_admitted(
    schedule: Schedule, delta: float
) -> None:
    assume(not unaffordable(accountant := ZcdpAccountant(delta), schedule))
    account = Ledger(2, 0, 0, schedule, accountant=accountant)
    budgets = spend_all(account)
    np.testing.assert_allclose(budgets, schedule.epsilon(np.arange(1, len(budgets) + 1)))
    assert account.spent() == pytest.approx([by_hand(budgets, delta), 0], rel=1e-9)
    assert account.spent()[0] <= schedule.epsilon_total * (1 + 1e-9)
    assert 0 <= account.privacy()[0] <= account.privacy()[1] == 1
    following = float(schedule.epsilon(len(budgets) + 1))
    assert (
        len(budgets) == 500
        or following < 1e-30
        or (by_hand([*budgets, following], delta) > schedule.epsilon_total * (1 - 1e-9))
    )


@given(SCHEDULES)
def test_by_sums_too(schedule: Schedule) -> None:
    assume(not unaffordable(PureAccountant(), schedule))
    account = Ledger(2, 0, 0, schedule)
    budgets = spend_all(account)
    assert account.spent() == pytest.approx([sum(budgets), 0], rel=1e-9)
    assert account.spent()[0] <= schedule.epsilon_total * (1 + 1e-12)
    following = float(schedule.epsilon(len(budgets) + 1))
    assert (
        len(budgets) == 500
        or following < 1e-30
        or (sum(budgets) + following > schedule.epsilon_total * (1 - 1e-9))
    )


@pytest.mark.parametrize(
    ("schedule", "accountant"),
    [(GeometricSchedule(40.0, 0.3), ZCDP), (ConstantSchedule(10.0, 11.0), PureAccountant())],
)
def test_a_budget_that_pays_for_no_participation_is_refused(
    schedule: Schedule, accountant: Accountant
) -> None:
    with pytest.raises(ConfigError, match=r"a first participation of epsilon = .* costs more than"):
        Ledger(1, 0, 0, schedule, accountant=accountant)


def test_many_small_budgets_cost_less_than_their_sum_and_a_large_one_more() -> None:
    small, large = ConstantSchedule(10.0, 0.1), GeometricSchedule(40.0, 0.04)
    assert len(spend_all(Ledger(1, 0, 0, small))) == 100
    assert len(spend_all(Ledger(1, 0, 0, small, accountant=ZCDP))) == 310
    # Sums of the papers' schedule stay below its total for ever; by zCDP 29 participations exceed it.
    assert len(spend_all(Ledger(1, 0, 0, large))) == 500
    assert len(spend_all(Ledger(1, 0, 0, large, accountant=ZCDP))) == 28


@pytest.mark.parametrize("n", [1, 30, 310])
def test_an_exact_account_of_laplace_noise_is_never_above_zcdp(n: int) -> None:
    """The other account composes privacy-loss distributions, by another library."""
    schedule = ConstantSchedule(10.0, 0.1)
    account = Ledger(1, 0, 0, schedule, accountant=ZCDP)
    account.restore(np.array([n]))
    assert epsilons(schedule, COORDINATE, [n])[n] <= account.spent()[0]


def test_the_share_of_the_budget_left_falls_by_the_same_for_the_same_budget() -> None:
    account = Ledger(1, 0, 0, ConstantSchedule(10.0, 0.1), accountant=ZCDP)
    left = [1.0]
    for _ in range(310):
        account.spend(np.array([0]))
        left.append(float(account.privacy()[0]))
    np.testing.assert_allclose(np.diff(left), np.diff(left)[0], rtol=1e-9)
    assert 0 <= left[-1] < -np.diff(left)[0]


@pytest.mark.parametrize(("mechanism", "n_releases"), [(COORDINATE, 100), (VECTOR, 1)])
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_a_whole_update_is_a_release_of_every_coordinate(
    mechanism: Mechanism, n_releases: int, share: float
) -> None:
    account = Ledger(2, 100, 7, ConstantSchedule(10.0, 0.1), mechanism, share, ZCDP)
    account.restore(np.array([3, 0]))
    table = account.table()
    assert table["epsilon_coordinate"].tolist() == pytest.approx([by_hand([0.1] * 3), 0])
    parts = [(1 - share) * 0.1] * 3 * n_releases + [share * 0.1] * 3
    assert table["epsilon_update"].tolist() == pytest.approx([by_hand(parts), 0])


def test_a_resumed_account_is_the_same_bit_for_bit() -> None:
    schedule = GeometricSchedule(10.0, 0.04)
    account, resumed = (Ledger(3, 100, 7, schedule, COORDINATE, accountant=ZCDP) for _ in range(2))
    for users in ([0, 1], [1, 2], [1], [0, 1, 2]):
        account.spend(np.array(users))
    resumed.restore(account.participations)
    np.testing.assert_array_equal(resumed.spent(), account.spent())
    np.testing.assert_array_equal(resumed.privacy(), account.privacy())


SMALL = {"privacy.schedule": "constant", "privacy.decay": None, "privacy.epsilon_each": 4.0}
BY_ZCDP = {"privacy.accountant": "zcdp", "privacy.delta": 1e-3}


def test_a_job_shows_what_its_accountant_counts_and_ends_where_it_refuses() -> None:
    demo = pausefl.change(pausefl.load_scenario("demo_small"), SMALL)
    runs = [
        pausefl.run(one, "random", n_rounds=40, train=False, progress=False)
        for one in (demo, pausefl.change(demo, BY_ZCDP))
    ]
    assert [run.ledger["participations"].max() for run in runs] == [10, 2]
    first = [run.rounds["leakage_max"].iloc[0] for run in runs]
    assert first == pytest.approx([4.0, by_hand([4.0], 1e-3)])
    for run in runs:
        counts = run.ledger["participations"]
        assert run.rounds["leakage_mean"].iloc[-1] == pytest.approx(run.ledger["epsilon_coordinate"].mean())
        assert (run.rounds["leakage_max"] <= 40 * (1 + 1e-12)).all()
        assert counts.sum() == run.rounds["selection"].map(len).sum()


def test_settings_without_the_key_are_those_of_sums() -> None:
    settings = {"epsilon_total": 10, "decay": 0.04, "sensitivity": 0.003}
    assert isinstance(PrivacySettings(**settings).make_accountant(), PureAccountant)
    with pytest.raises(ConfigError, match=r"accountant = 'zcdp' needs privacy\.delta"):
        PrivacySettings.read({**settings, "accountant": "zcdp"}, "settings")
    with pytest.raises(
        ConfigError, match=r"delta is for accountant 'zcdp', and privacy\.accountant is 'pure'"
    ):
        PrivacySettings.read({**settings, "delta": 1e-5}, "settings")
    with pytest.raises(ConfigError, match=r"'zcpd' is not known\. Did you mean 'zcdp'"):
        PrivacySettings.read({**settings, "accountant": "zcpd"}, "settings")


def test_sums_over_a_schedule_are_those_of_the_accountant_where_pages_ask_for_them() -> None:
    privacy = PrivacySettings(
        epsilon_total=10,
        schedule="constant",
        epsilon_each=0.1,
        sensitivity=0.003,
        accountant="zcdp",
        delta=DELTA,
    )
    found = privacy.make_account().spent(np.array([[0, 1], [30, 310]]))
    np.testing.assert_allclose(found, [[0, by_hand([0.1])], [by_hand([0.1] * n) for n in (30, 310)]])


class Careless(Accountant):
    """It would let users spend twice the budget."""

    def cost(self, epsilon: Any) -> Any:
        return epsilon

    def budget(self, epsilon: float) -> float:
        return 2 * epsilon

    def epsilon(self, price: Any) -> Any:
        return price


class Exhausted(Careless):
    def budget(self, epsilon: float) -> float:
        return epsilon - 50


class Unknowing(Careless):
    def cost(self, epsilon: Any) -> Any:
        return np.full(np.shape(epsilon), np.nan)


class Falling(Careless):
    def budget(self, epsilon: float) -> float:
        return epsilon

    def epsilon(self, price: Any) -> Any:
        return price * (50 - price) / 10


@pytest.mark.parametrize(
    ("accountant", "message"),
    [
        (Careless(), r"Careless' makes epsilon = 80 of the price of epsilon_total = 40"),
        (Exhausted(), r"Exhausted' makes a total price of -10 of epsilon_total = 40"),
        (Unknowing(), r"Unknowing' needs a price of 0 or more of each participation"),
        (Falling(), r"Falling' needs an epsilon of each total price, 0 at 0, that never falls"),
    ],
)
def test_an_accountant_that_is_no_filter_is_refused(accountant: Accountant, message: str) -> None:
    with pytest.raises(OwnPartError, match=message):
        Ledger(2, 0, 0, GeometricSchedule(40.0, 0.04), accountant=accountant)


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_delta_is_a_probability_in_between(delta: float) -> None:
    with pytest.raises(ConfigError, match="must be between 0 and 1"):
        ZcdpAccountant(delta)
