"""The sections ``network`` and ``reward`` of a scenario."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import model_validator

from pausefl.bandit.rewards import REWARDS, Reward, Users, assign_clusters
from pausefl.plugins import build, check_arguments
from pausefl.schema.base import Settings
from pausefl.schema.types import Count, NonNegative, OneOf, Positive, Real, Whole
from pausefl.streams import Streams


class NetworkSettings(Settings):
    """Users and their latencies, in simulated seconds.

    The first half of the users is fast, the other slow. Means rise linearly inside each half; latencies are
    normal around them and floored (PAUSE v2, V-A).
    """

    n_users: Annotated[int, Whole(ge=1, le=1_000_000)]
    """Number of users, K in the papers."""
    n_selected: Count
    """Users selected in a round, m in the papers; at most `n_users`."""
    latency_floor: Positive
    """Least latency tau_min, in seconds; also where the means of the fast users start."""
    fast_latency_max: Positive
    """Mean latency of the slowest fast user, in seconds."""
    slow_latency_min: Positive
    """Where the mean latencies of the slow users start, in seconds."""
    slow_latency_max: Positive
    """Mean latency of the slowest user, in seconds."""
    latency_std: Positive
    """Standard deviation of a user's latency around its mean, in seconds."""
    round_latency_max: Positive | None = None
    """Longest a round may take, in seconds (BSFL's tau_max, eq. 2); null for no limit."""

    @model_validator(mode="after")
    def _as_many_users(self) -> Self:
        if self.n_selected > self.n_users:
            raise ValueError(f"n_selected = {self.n_selected} exceeds network.n_users = {self.n_users}")
        return self

    @model_validator(mode="after")
    def _rising_means(self) -> Self:
        means = (self.latency_floor, self.fast_latency_max, self.slow_latency_min, self.slow_latency_max)
        if list(means) != sorted(means):
            raise ValueError(
                f"latency_floor = {means[0]} and the means must satisfy latency_floor <= fast_latency_max"
                f" <= slow_latency_min <= slow_latency_max, got {means}"
            )
        return self


class RewardSettings(Settings):
    """Reward of a selection (PAUSE v2, eq. 9), without unit."""

    name: Annotated[str, OneOf(REWARDS)]
    """The reward."""
    alpha: NonNegative
    """Weight of the generalisation term (PAUSE v2, eq. 9)."""
    beta: Annotated[float, Real(ge=1)]
    """Exponent of the generalisation reward g_k (PAUSE v2, eq. 8, which has more than 1); larger is more
    tolerant."""
    gamma: NonNegative
    """Weight of the privacy term (PAUSE v2, eq. 9)."""
    n_clusters: Count | None = None
    """Number of clusters R the users are split into (`r2`); at most `network.n_users`."""
    clusters: Literal["random", "index"] = "random"
    """How users are split into clusters (`r2`). `random`: at random, fixed by the seed; sizes differ by at
    most one. `index`: a user's cluster is its index modulo `n_clusters`, as in the authors' logs."""
    overlap_penalty: NonNegative | None = None
    """Penalty rho on the generalisation term for each selected user beyond a cluster's first (`r2`)."""
    overlap_latency: NonNegative | None = None
    """Seconds delta_tau added to the round for each selected user beyond a cluster's first (`r2`)."""

    @model_validator(mode="after")
    def _has_the_keys_of_its_reward(self) -> Self:
        reward = REWARDS[self.name]
        besides = ["n_clusters"] if reward.uses_clusters else []
        check_arguments(reward, vars(self), f"name = '{self.name}'", "reward", besides)
        if self.gamma != 0 and not reward.has_privacy_term:
            raise ValueError(f"gamma = {self.gamma} must be 0: reward '{self.name}' has no privacy term")
        return self

    def make(self) -> Reward:
        """The reward."""
        return build(REWARDS.find(self.name), vars(self))

    def make_clusters(self, n_users: int, streams: Streams) -> Users | None:
        """Cluster (K,) of each user; None where there are none."""
        if self.n_clusters is None:
            return None
        return assign_clusters(n_users, self.n_clusters, self.clusters, streams)
