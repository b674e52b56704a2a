"""The sections ``network`` and ``reward`` of a scenario."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from pausefl.bandit.latency import LATENCIES, LatencyLaw
from pausefl.bandit.presence import AVAILABILITIES, FAILURES, Availability, Failures
from pausefl.bandit.rewards import REWARDS, Reward, Users, assign_clusters
from pausefl.plugins import Plugins, arguments, build, check_arguments, check_choices, check_foreign, keys_of
from pausefl.schema.base import Settings
from pausefl.schema.types import Count, NonNegative, OneOf, Positive, Real, Text, Whole
from pausefl.streams import Streams


class NetworkSettings(Settings):
    """Users: how long they take, in simulated seconds, when they are there, and whether they answer.

    In the papers the first half of the users is fast, the other slow. Means rise linearly inside each half;
    latencies are normal around them and floored (PAUSE v2, V-A).
    """

    n_users: Annotated[int, Whole(ge=1, le=1_000_000)]
    """Number of users, K in the papers."""
    n_selected: Count
    """Users selected in a round, m in the papers; at most `n_users`."""
    latency_floor: Positive
    """Least latency tau_min, in seconds; also where the means of the fast users start."""
    latency: Annotated[str, OneOf(LATENCIES)] = "two_groups"
    """Law of the users' latencies."""
    fast_latency_max: Positive | None = None
    """Mean latency of the slowest fast user, in seconds (all laws but `measured` and `trace`)."""
    slow_latency_min: Positive | None = None
    """Where the mean latencies of the slow users start, in seconds (the same laws)."""
    slow_latency_max: Positive | None = None
    """Mean latency of the slowest user, in seconds (the same laws)."""
    latency_std: Positive | None = None
    """Standard deviation of a user's latency around its mean, in seconds (`two_groups` and `drift`)."""
    latency_sigma: Positive | None = None
    """Standard deviation of the logarithm of a latency (`lognormal`)."""
    swap_round: Count | None = None
    """Round from which on the slow users are the fast ones (`drift`)."""
    latency_file: Text | None = None
    """CSV file of latencies, from the working folder (`measured` and `trace`)."""
    round_latency_max: Positive | None = None
    """Longest a round may take, in seconds (BSFL's tau_max, eq. 2); null for no limit. So long the server
    waits for users who do not answer."""
    availability: Annotated[str, OneOf(AVAILABILITIES)] = "always"
    """Who can be asked in a round. If fewer than are to be asked are there, all of them take part."""
    availability_share: Annotated[float, Real(gt=0, le=1)] | None = None
    """Share of the rounds in which a user is there (availability `random` and `daily`, where it is rounded
    for each user to whole rounds of a day)."""
    availability_file: Text | None = None
    """CSV file of who can be asked when, from the working folder (availability `trace`)."""
    day_rounds: Annotated[int, Whole(ge=2, le=10**7)] | None = None
    """Rounds of a day (availability `daily`)."""
    failures: Annotated[str, OneOf(FAILURES)] = "never"
    """Who does not answer when asked. Such a user took part: its budget is spent, and the round lasts
    `round_latency_max`, which must be given."""
    failure_rate: Annotated[float, Real(ge=0, lt=1)] | None = None
    """Probability that a user who is asked does not answer (failures `random`)."""

    @model_validator(mode="after")
    def _as_many_users(self) -> Self:
        if self.n_selected > self.n_users:
            raise ValueError(f"n_selected = {self.n_selected} exceeds network.n_users = {self.n_users}")
        return self

    @model_validator(mode="after")
    def _has_the_keys_of_its_choices(self) -> Self:
        """The keys of its laws, and of no others."""
        choices: dict[str, Plugins[Any]] = {
            "latency": LATENCIES,
            "availability": AVAILABILITIES,
            "failures": FAILURES,
        }
        check_choices(self, "network", choices)
        if self.failures != "never" and self.round_latency_max is None:
            raise ValueError(f"failures = '{self.failures}' needs network.round_latency_max, the timeout")
        if self.availability == "daily" and (self.availability_share or 0) * (self.day_rounds or 0) < 1:
            raise ValueError(
                f"availability_share = {self.availability_share} of network.day_rounds = {self.day_rounds} is"
                " less than a round: some users would never be there"
            )
        return self

    @model_validator(mode="after")
    def _a_round_lasts_as_long_as_any_user(self) -> Self:
        longest, least = self.round_latency_max, self.latency_floor
        if longest is not None and longest < least:
            raise ValueError(
                f"round_latency_max = {longest} is below network.latency_floor = {least}: no user answers so"
                " soon"
            )
        return self

    @model_validator(mode="after")
    def _rising_means(self) -> Self:
        means = (self.latency_floor, self.fast_latency_max, self.slow_latency_min, self.slow_latency_max)
        if None not in means and list(means) != sorted(means):  # type: ignore[type-var]
            raise ValueError(
                f"latency_floor = {means[0]} and the means must satisfy latency_floor <= fast_latency_max"
                f" <= slow_latency_min <= slow_latency_max, got {means}"
            )
        return self

    def make_latency(self) -> LatencyLaw:
        """The law of the latencies."""
        return build(LATENCIES[self.latency], vars(self))

    def make_availability(self) -> Availability:
        """Who can be asked."""
        return build(AVAILABILITIES[self.availability], vars(self))

    def make_failures(self) -> Failures:
        """Who does not answer."""
        return build(FAILURES[self.failures], vars(self))


def _keys(reward: type[Reward]) -> list[str]:
    """Keys that a reward takes."""
    return [*arguments(reward), *(("n_clusters", "clusters") if reward.uses_clusters else ())]


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
        check_foreign(self, "reward", {"name": keys_of(REWARDS, self.name, _keys)})
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
