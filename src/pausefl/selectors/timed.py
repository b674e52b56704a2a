"""Selectors that look at latencies alone: TiFL and FedCS."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.base import Selector
from pausefl.settings import Scenario

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


class Tifl(Selector):
    """M users drawn uniformly from one of T tiers of similar latency (Chai et al., HPDC 2020, 4.2 to 4.4).

    Profiling comes first: until every available user has taken part in ``profiling_rounds`` rounds, the users
    selected are drawn from those who have not. L_k is the mean latency of user k up to then. Tiers stay as
    they are afterwards: tier(k) = floor(T |{j : L_j < L_k}| / K).

    Each further round draws tier i with a probability proportional to w_i, among the tiers that have m
    available users and credit left: tier i may be drawn c_i times (Algorithm 2). If no such tier has credit,
    credits do not count; if no tier has m available users, m users are drawn from everyone available.

    Attributes
    ----------
    weights, credits
        w_i and c_i of the tiers (T,), the fastest first; credits are infinite without a limit.
    profiling_rounds
        Rounds that each user is profiled in.
    tier
        (K,) tier of each user, from 0; empty while profiling.
    drawn
        (T,) how often each tier was drawn.
    """

    remembered: ClassVar[tuple[str, ...]] = ("tier", "drawn")

    def __init__(self, weights: Floats, credits: Floats, profiling_rounds: int) -> None:
        self.weights, self.credits, self.profiling_rounds = weights, credits, profiling_rounds
        self.tier = np.zeros(0, np.int64)
        self.drawn = np.zeros(len(weights), np.int64)

    @classmethod
    def build(cls, scenario: Scenario) -> Tifl:
        """Selector with the tiers of the scenario."""
        settings = scenario.selection
        assert settings.n_tiers is not None
        weights = settings.tier_weights or [1.0] * settings.n_tiers
        credits = settings.tier_credits or [np.inf] * settings.n_tiers
        return cls(np.array(weights, np.float64), np.array(credits, np.float64), settings.profiling_rounds)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users, m = history.candidates(), history.n_selected
        tier = self._tiers(history)
        if not len(tier):
            users = rng.permutation(users)
            profiled = history.participations[users] >= self.profiling_rounds
            return np.sort(users[np.argsort(profiled, kind="stable")[:m]])
        weights = self._open(tier, history)
        if weights.any():
            users = users[tier[users] == rng.choice(len(weights), p=weights / weights.sum())]
        return np.sort(rng.choice(users, m, replace=False))

    def observe(self, feedback: Feedback, history: History) -> None:
        """Keep the tiers once there are any, and take the credit of the tier that was drawn."""
        self.tier = self._tiers(history)
        tiers = np.unique(self.tier[feedback.users]) if len(self.tier) else self.tier
        if len(tiers) == 1 and self._open(self.tier, history).any():
            self.drawn[tiers] += 1

    def _tiers(self, history: History) -> Users:
        """Tier (K,) of each user; empty while there are users to profile. Users never seen are slowest."""
        if len(self.tier):
            return self.tier
        if (history.available & (history.participations < self.profiling_rounds)).any():
            return self.tier
        latency = np.where(history.participations > 0, history.mean_latency, np.inf)
        n_faster = np.searchsorted(np.sort(latency), latency)
        return np.asarray(len(self.weights) * n_faster // len(latency))

    def _open(self, tier: Users, history: History) -> Floats:
        """Weights (T,) of the tiers, 0 for those that cannot be drawn."""
        available = np.bincount(tier[history.available], minlength=len(self.weights))
        full = np.where(available >= history.n_selected, self.weights, 0.0)
        with_credit = np.where(self.drawn < self.credits, full, 0.0)
        return with_credit if with_credit.any() else full


class FedCs(Selector):
    """The most of n random users that can be expected to meet the deadline (Nishio and Yonetani, ICC 2019).

    Maximise the number of users in S subject to T(S) <= T_round (eq. 2), over subsets S of n candidates drawn
    uniformly. Here users work side by side, so T(S) is the largest estimated latency in S, and Algorithm 3,
    which adds the user that takes the least further time as long as the deadline holds, selects every
    candidate whose estimate is at most T_round. The estimate is the mean latency observed, and 0 for users
    never seen. If no candidate meets the deadline, the one of least estimate takes part.

    The number of users selected is not m: it depends on the deadline, and lies between 1 and n.

    Attributes
    ----------
    deadline
        T_round in seconds.
    n_candidates
        The number n of users asked for their resources in a round: K x C in the paper.
    """

    def __init__(self, deadline: float, n_candidates: int) -> None:
        self.deadline, self.n_candidates = deadline, n_candidates

    @classmethod
    def build(cls, scenario: Scenario) -> FedCs:
        """Selector with the deadline and the number of candidates of the scenario."""
        settings = scenario.selection
        assert settings.deadline is not None
        assert settings.n_candidates is not None
        return cls(settings.deadline, settings.n_candidates)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select users that meet the deadline."""
        users = rng.permutation(history.candidates())[: self.n_candidates]
        latency = history.mean_latency[users]
        in_time = users[latency <= self.deadline]
        return np.sort(in_time if len(in_time) else users[[latency.argmin()]])
