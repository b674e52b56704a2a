"""Every reward of a selection, and what the rest of the package must know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from pausefl.registry.base import Record, Registry
from pausefl.registry.own import check_keys, declared


@dataclass(frozen=True)
class RewardRecord(Record):
    """A reward's class and what checks and captions must know of it."""

    #: Settings that must be given, as dotted keys.
    requires: tuple[str, ...] = ()
    #: Whether the privacy that users have left counts; without, ``reward.gamma`` must be 0.
    has_privacy_term: bool = True
    #: What it is, for the reference of settings.
    about: str = field(default="", repr=False)

    @classmethod
    def of(cls, place: str, part: Any, others: Mapping[str, Self]) -> Self:
        """Record of a user's own reward."""
        made = declared(cls, part, place)
        check_keys(made.requires)
        return made


#: In the order of the reference of settings.
REWARDS: Registry[RewardRecord] = Registry(
    "reward",
    {
        "r1": RewardRecord(
            "pausefl.bandit.rewards:AverageReward",
            about="mean generalisation and mean privacy terms (PAUSE v2, eq. 18)",
        ),
        "r2": RewardRecord(
            "pausefl.bandit.rewards:OverlapReward",
            requires=("reward.n_clusters", "reward.overlap_penalty", "reward.overlap_latency"),
            about="`r1` less a penalty for users of the same cluster (PAUSE v2, eq. 22)",
        ),
        "bsfl": RewardRecord(
            "pausefl.bandit.rewards:QualityReward",
            has_privacy_term=False,
            about="generalisation weighted by size and quality of the data, no privacy term (BSFL, eq. 4)",
        ),
    },
    own=RewardRecord,
    kind="pausefl.bandit.rewards:Reward",
)
