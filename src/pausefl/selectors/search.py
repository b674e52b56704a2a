"""The objective of the searches of PAUSE and BSFL, and what they share (PAUSE v2, eq. 14; BSFL, eq. 13).

The value of a selection S of m users is

    min over S of bound  +  sum over S of score  -  sum over clusters r of penalty(|S ∩ C_r|).

``bound`` is the bandit index, or the true speed for a genie. Scores, clusters and penalty are the reward's
(`pausefl.bandit.rewards`); without a penalty all users are in one cluster of no cost.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import Reward, confidence_bound, total_penalty
from pausefl.errors import PauseflError
from pausefl.plugins import OwnPartError, naming
from pausefl.selectors.base import Selector

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: Selections drawn at random that tell the spread of rewards.
_N_DRAWN = 100


@dataclass(frozen=True)
class Objective:
    """The value of every selection of m of n users, numbered 0 .. n - 1.

    Attributes
    ----------
    bound
        (n,) speed index of each user; +inf for users never seen.
    score
        (n,) what each user adds.
    cluster
        (n,) cluster of each user, from 0; numbers may be skipped.
    costs
        (m,) steps of the penalty: what the 1st, 2nd, ..., m-th selected user of a cluster costs.
    """

    bound: Floats
    score: Floats
    cluster: Users
    costs: Floats

    @classmethod
    def of(cls, history: History, reward: Reward, bound: Floats, users: Users) -> Objective:
        """The objective of a round among ``users`` (n,).

        Raises
        ------
        PauseflError
            If a score is not finite or a bound is NaN or minus infinity, with the user; or if a user's own
            reward fails.
        """
        name = f"reward '{type(reward).__module__}:{type(reward).__name__}'"
        with naming(type(reward), name, f"in round {history.round}"):
            objective = cls(
                bound[users],
                reward.scores(history)[users],
                reward.clusters(history)[users],
                reward.costs(history.n_selected),
            )
        if len(objective.costs) != history.n_selected or (objective.cluster < 0).any():
            why = (
                f"needs {history.n_selected} costs and clusters from 0, and has {len(objective.costs)} costs"
            )
            raise OwnPartError(f"{why}, clusters from {objective.cluster.min()}", name)
        for what, values, valid in (
            ("score", objective.score, np.isfinite(objective.score)),
            ("speed index", objective.bound, objective.bound > -np.inf),
        ):
            if not valid.all():
                first = int(np.flatnonzero(~valid)[0])
                raise PauseflError(
                    f"round {history.round}: the {what} of user {users[first]} is {values[first]}, so"
                    " selections with this user cannot be compared"
                )
        return objective

    @property
    def n_selected(self) -> int:
        """M, the number of users to select."""
        return len(self.costs)

    @property
    def is_convex(self) -> bool:
        """Whether each further user of a cluster costs at least as much as the one before."""
        return bool((self.costs[1:] >= self.costs[:-1]).all())

    def unbounded(self, users: Users) -> Objective:
        """The objective among some of the users, without the speed term."""
        return Objective(np.zeros(len(users)), self.score[users], self.cluster[users], self.costs)

    def value(self, selection: Users) -> float:
        """Value of a selection of m users."""
        penalty = total_penalty(self.costs, self.cluster[selection])
        return float(self.bound[selection].min() + self.score[selection].sum() - penalty)

    def fill(self, pool: Users, rng: np.random.Generator) -> Users:
        """The m users of a pool of largest total score less penalty; ties at random.

        Inside a cluster, the j-th best user adds its score less the j-th cost. With a convex penalty this
        falls with j, so the m largest adjusted scores form the best selection.
        """
        pool = rng.permutation(pool)
        pool = pool[np.argsort(-self.score[pool], kind="stable")]
        if not self.costs.any():
            return pool[: self.n_selected]
        cluster = self.cluster[pool]
        by_cluster = np.argsort(cluster, kind="stable")
        grouped = cluster[by_cluster]
        place = np.empty(len(pool), np.int64)  # 0 for the best of its cluster
        place[by_cluster] = np.arange(len(pool)) - np.searchsorted(grouped, grouped)
        adjusted = self.score[pool] - self.costs[np.minimum(place, self.n_selected - 1)]
        return pool[np.lexsort((rng.random(len(pool)), -adjusted))[: self.n_selected]]


class Search(Selector):
    """Maximises the reward with the bandit index in place of the true speed, exactly or approximately.

    While m or more users were never seen, their index is infinite, and the best m of them by the other terms
    are selected, exactly, or any m of them with ``first_rounds`` "uniform". Otherwise every selection has a
    finite least index, and the subclass searches (deviations D31, D32, D78).
    """

    #: Whether the objective has the reward's privacy term.
    with_privacy: ClassVar[bool] = True
    uses_reward = True

    def __init__(self, reward: Reward, exploitation: float, first_rounds: str = "maximise") -> None:
        self.reward = reward if self.with_privacy else reward.without_privacy()
        self.exploitation = exploitation
        self.first_rounds = first_rounds

    def warm_up(self) -> None:
        """Search among two users, so that kernels are compiled, or loaded, before the first round."""
        pair = Objective(np.zeros(2), np.zeros(2), np.zeros(2, np.int64), np.zeros(1))
        self.search(pair, History.empty(np.ones(2, np.int64), 1, 1.0), np.arange(2), np.random.default_rng(0))

    def bound(self, history: History) -> Floats:
        """Speed index (K,) of all users."""
        return confidence_bound(history, self.exploitation)

    @abstractmethod
    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """M of the objective's n > m users, whose ids are ``users``; fewer than m bounds are infinite."""

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users, m = history.candidates(), history.n_selected
        objective = Objective.of(history, self.reward, self.bound(history), users)
        unseen = np.flatnonzero(objective.bound == np.inf)
        if len(unseen) >= m:
            if self.first_rounds == "uniform":
                return np.sort(rng.choice(users[unseen], m, replace=False))
            if objective.is_convex:
                return np.sort(users[objective.fill(unseen, rng)])
            users, objective = users[unseen], objective.unbounded(unseen)
        if len(users) == m:
            return users
        return np.sort(users[self.search(objective, history, users, rng)])


class AnnealingSearch(Search):
    """Searches by simulated annealing.

    Attributes
    ----------
    n_iterations
        J.
    temperature_divisor
        kappa, which divides the temperature of every iteration (v2, Section V-D).
    temperature_scale
        None for the papers' C; ``spread`` for the range of the rewards of selections drawn at random.
    """

    def __init__(
        self,
        reward: Reward,
        exploitation: float,
        n_iterations: int,
        temperature_divisor: float,
        first_rounds: str = "maximise",
        temperature_scale: str | None = None,
    ) -> None:
        super().__init__(reward, exploitation, first_rounds)
        self.n_iterations, self.temperature_divisor = n_iterations, temperature_divisor
        self.temperature_scale = temperature_scale
        self.warm_up()

    def scale(self, objective: Objective, bound: float, rng: np.random.Generator) -> float:
        """Scale C of the temperature: the papers' ``bound`` on the difference of two rewards, or a spread.

        The spread is the range of the rewards of selections drawn at random, 0 if none of them is finite
        (deviation D89).
        """
        if self.temperature_scale is None:
            return bound
        n_users, m = len(objective.bound), objective.n_selected
        drawn = np.array([objective.value(rng.permutation(n_users)[:m]) for _ in range(_N_DRAWN)])
        finite = drawn[np.isfinite(drawn)]
        return float(np.ptp(finite)) if len(finite) else 0.0
