"""The exact search: equal to enumeration where that is possible, to a solver where not; and enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import (
    KINDS,
    Chosen,
    Concave,
    maximisers,
    problem,
    random_history,
    random_problem,
    solved_by_milp,
    worth,
)
from scipy import stats

from pausefl.bandit.history import History
from pausefl.bandit.rewards import (
    AverageReward,
    OverlapReward,
    QualityReward,
    Reward,
    confidence_bound,
)
from pausefl.errors import ConfigError, PauseflError
from pausefl.selectors.brute import BrutePause
from pausefl.selectors.enumeration import enumerate_selections
from pausefl.selectors.exact import pivot_and_fill
from pausefl.selectors.pause import Bsfl, Pause
from pausefl.selectors.search import Objective, Search

R1 = AverageReward(2.0, 2.0, 5.0)
R2 = OverlapReward(2.0, 2.0, 5.0, 0.25, 0.05)
QUALITY = QualityReward(2.0, 2.0, 0.0)
REWARDS = {"r1": R1, "r2": R2, "bsfl": QUALITY}


def choose(objective: Objective, seed: int = 0) -> Chosen:
    chosen = pivot_and_fill(objective, np.random.default_rng(seed))
    assert len(set(chosen.tolist())) == len(chosen) == objective.n_selected
    return tuple(sorted(chosen.tolist()))


def best_by_definition(
    history: History, reward: Reward, speed: np.ndarray | None = None, among: np.ndarray | None = None
) -> tuple[Chosen, float]:
    """The best selection and its lead; without speeds, by the other terms alone."""
    speed = np.zeros(len(history.data_size)) if speed is None else speed
    users = np.flatnonzero(history.available) if among is None else among
    values = {
        s: reward.value(history, np.array(s), speed[list(s)])
        for s in combinations(users.tolist(), history.n_selected)
    }
    first, second = sorted(values, key=lambda s: values[s])[:-3:-1]
    return first, values[first] - values[second]


@pytest.mark.parametrize("kind", KINDS)
def test_the_choice_is_an_enumerated_optimum(kind: str) -> None:
    rng = np.random.default_rng(0)
    for seed in range(800):
        objective = random_problem(rng, kind)
        assert choose(objective, seed) in maximisers(objective), objective


@given(st.data())
@settings(max_examples=150)
def test_the_choice_is_an_enumerated_optimum_for_any_real_values(data: st.DataObject) -> None:
    n_users = data.draw(st.integers(1, 8))
    m = data.draw(st.integers(1, n_users))
    values = st.lists(st.floats(-100, 100), min_size=n_users, max_size=n_users)
    cluster = data.draw(st.lists(st.integers(0, 4), min_size=n_users, max_size=n_users))
    costs = sorted(data.draw(st.lists(st.floats(-100, 100), min_size=m, max_size=m)))
    objective = problem(data.draw(values), data.draw(values), m, cluster, costs)
    best = worth(objective, next(iter(maximisers(objective))))
    assert worth(objective, choose(objective)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("kind", ["r1", "r2", "convex"])
@pytest.mark.parametrize(
    ("n_users", "m", "n_clusters", "slope"), [(60, 10, 5, 0.5), (60, 10, 5, 1.5), (300, 15, 20, 1.5)]
)
def test_larger_networks_agree_with_a_solver(
    kind: str, n_users: int, m: int, n_clusters: int, slope: float
) -> None:
    rng = np.random.default_rng([n_users, m])
    bound = rng.exponential(size=n_users)
    score = 0.2 * rng.normal(size=n_users) - slope * bound / m
    costs = {
        "r1": np.zeros(m),
        "r2": np.where(np.arange(m) > 0, 0.2, 0.0),
        "convex": np.sort(rng.normal(size=m)) / 4,
    }[kind]
    objective = problem(bound, score, m, rng.integers(n_clusters, size=n_users), costs)
    assert worth(objective, choose(objective)) == pytest.approx(solved_by_milp(objective), abs=1e-6)


@pytest.mark.parametrize("cls", [Pause, BrutePause])
@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("privacy", np.nan, "the score of user 6 is nan"),
        ("privacy", np.inf, "the score of user 6 is inf"),
        ("mean_speed", -np.inf, "the speed index of user 6 is -inf"),
    ],
)
def test_what_cannot_be_compared_is_refused_naming_the_user(
    cls: type[Search], attribute: str, value: float, message: str
) -> None:
    history = random_history(np.random.default_rng(0))
    history.available[[0, 3]] = False
    getattr(history, attribute)[[6, 8]] = value
    with pytest.raises(PauseflError, match=f"round {history.round}: {message}"):
        cls(R1, 1.0)(history, np.random.default_rng(0))


@pytest.mark.parametrize("cls", [Pause, BrutePause, Bsfl])
@pytest.mark.parametrize("reward", REWARDS)
def test_users_never_seen_come_first_the_best_of_them_by_the_other_terms(
    cls: type[Search], reward: str
) -> None:
    rng = np.random.default_rng(2)
    used = REWARDS[reward].without_privacy() if cls is Bsfl else REWARDS[reward]
    for seed in range(60):
        history = random_history(rng, n_unseen=6 + seed % 4)
        history.available[rng.permutation(9)[: seed % 3]] = False
        unseen = np.flatnonzero(history.available & (history.participations == 0))
        history.privacy[unseen] = rng.uniform(size=len(unseen))  # in truth 1: no term of theirs
        chosen = tuple(cls(REWARDS[reward], 1.0)(history, rng).tolist())
        best, lead = best_by_definition(history, used, among=unseen)
        assert lead > 1e-9
        assert chosen == best


@pytest.mark.parametrize("reward", REWARDS)
def test_bsfl_maximises_speed_and_generalisation_alone(reward: str) -> None:
    rng = np.random.default_rng(4)
    select, differ = Bsfl(REWARDS[reward], 3.0), 0
    for _ in range(40):
        history = random_history(rng)
        used = REWARDS[reward].without_privacy()
        best, lead = best_by_definition(history, used, confidence_bound(history, 3.0))
        chosen = tuple(select(history, rng).tolist())
        assert lead > 1e-9
        assert chosen == best
        differ += chosen != tuple(Pause(REWARDS[reward], 3.0)(history, rng).tolist())
    assert (differ > 5) is (reward != "bsfl")


@pytest.mark.parametrize("cls", [Pause, Bsfl])
def test_the_exact_search_refuses_a_penalty_that_is_not_convex(cls: type[Pause]) -> None:
    history = random_history(np.random.default_rng(0))
    with pytest.raises(ConfigError, match=r"Concave is not convex.*annealing.*pause_brute"):
        cls(Concave(2.0, 2.0, 5.0), 1.0)(history, np.random.default_rng(0))
    unseen = History.empty(np.full(4, 10), 2, 0.05, cluster=np.array([0, 0, 1, 1]))
    with pytest.raises(ConfigError, match="Concave is not convex"):
        cls(Concave(2.0, 2.0, 5.0), 1.0)(unseen, np.random.default_rng(0))


# The search that values every selection

BRUTE = BrutePause(R1, 1.0)
UNUSED = random_history(np.random.default_rng(0))


def enumerated(objective: Objective, seed: int = 0) -> tuple[int, ...]:
    users = np.arange(len(objective.bound))
    chosen = BRUTE.search(objective, UNUSED, users, np.random.default_rng(seed))
    return tuple(sorted(chosen.tolist()))


def test_brute_force_finds_an_optimum_whatever_the_penalty() -> None:
    rng = np.random.default_rng(1)
    not_convex = 0
    for seed in range(1000):
        given = random_problem(rng, KINDS[seed % len(KINDS)])
        costs = rng.permutation(given.costs)
        objective = problem(given.bound, given.score, len(costs), given.cluster, costs)
        assert enumerated(objective, seed) in maximisers(objective), objective
        not_convex += not objective.is_convex
    assert not_convex > 100


@pytest.mark.parametrize(
    "objective",
    [
        problem([1] * 5, [0] * 5, 2),
        problem([2, 2, 1, 1, 1], [0, 0, 1, 1, 0], 1),
        problem([0, 0, 0, 1, 1], [2, 1, 1, 1, 1], 2),
        problem([1] * 5, [0] * 5, 3, [0, 0, 1, 1, 1], [0, 1, 1]),
        problem([1] * 6, [0] * 6, 3, [0, 0, 0, 1, 1, 1], [2, 1, 0]),
    ],
)
def test_all_tied_selections_are_equally_likely(objective: Objective) -> None:
    values = objective.bound, objective.score, objective.cluster, objective.costs
    in_order = Counter(
        tuple(enumerate_selections(*values, np.random.default_rng(seed))) for seed in range(3000)
    )
    for made in (in_order, Counter(enumerated(objective, seed) for seed in range(3000))):
        assert set(made) == maximisers(objective)
        assert stats.chisquare(list(made.values())).pvalue > 1e-4


@pytest.mark.parametrize(("n_users", "m"), [(60, 6), (1000, 990)])
def test_too_many_selections_are_refused_naming_the_alternative(n_users: int, m: int) -> None:
    history = random_history(np.random.default_rng(0), n_users, m)
    with pytest.raises(ConfigError, match=rf"selections of {m} out of {n_users} users.* Use pause,"):
        BRUTE(history, np.random.default_rng(0))
