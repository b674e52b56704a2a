"""Observations of the server; a selector may look at nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.states import saved


class Losses(Protocol):
    """Losses by user, as an array (K,) has them, or asked for one by one."""

    def __getitem__(self, users: NDArray[np.int64]) -> NDArray[np.float64]:
        """Those (n,) of the users (n,)."""


@dataclass(frozen=True)
class Feedback:
    """Observations that one round reveals to the server.

    Attributes
    ----------
    users
        (n,) ids of the users who were asked, each once.
    latency
        (n,) their latencies in seconds, as observed; the timeout of those who did not answer.
    privacy
        (K,) p_k after the round: share of each user's budget that is left, in [0, 1] (v2, eq. 7).
    updates
        (a, d) updates of the users who answered as the server received them, without batch normalisation;
        None in a run without training, or for a selector that does not need them.
    losses
        (a,) training loss of each of these over the examples that it visited in the round, as the server
        received it: their mean, or the root of their mean square (`Selector.loss_power`). Not finite if the
        local model diverged. None in a run without training, or for a selector that does not need it.
    answered
        (n,) whether each user answered; by default all. One who did not took part: budgets are spent, and the
        server waited.
    """

    users: NDArray[np.int64]
    latency: NDArray[np.float64]
    privacy: NDArray[np.float64]
    updates: NDArray[np.float32] | None = None
    losses: NDArray[np.float64] | None = None
    answered: NDArray[np.bool_] = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.answered is None:
            object.__setattr__(self, "answered", np.ones(len(self.users), np.bool_))

    @property
    def senders(self) -> NDArray[np.int64]:
        """(a,) ids of the users who answered."""
        return self.users[self.answered]


def in_time(
    latency: NDArray[np.float64], answered: NDArray[np.bool_], n_selected: int, timeout: float
) -> NDArray[np.bool_]:
    """Which of the users asked (n,) are among the first ``n_selected`` to answer, before the timeout.

    By their latencies (n,) in seconds, and whether they answer at all (n,). Ties at the end all count.
    """
    counts: NDArray[np.bool_] = answered & (latency < timeout)
    if np.count_nonzero(counts) > n_selected:
        counts &= latency <= np.sort(latency[counts])[n_selected - 1]
    return counts


#: One, and what running means of shares are above it by rounding.
_ONE = 1 + 1e-9

#: Array attributes of `History` that change from round to round.
_OBSERVED = ("participations", "mean_speed", "mean_latency", "privacy", "available")
#: Those that say where users began who joined later.
_OF_JOINING = ("since", "ahead")


@dataclass
class History:
    """Everything observed before round ``round``, updated by one `Feedback` a round.

    Attributes
    ----------
    data_size
        (K,) number of training examples of each user.
    quality
        (K,) quality of each user's data, in [0, 1] (BSFL, Section III-B).
    cluster
        (K,) cluster of each user, from 0; all 0 unless the reward has clusters (v2, eq. 22).
    n_selected
        m, the number of users to select.
    latency_floor
        tau_min in seconds.
    forgetting
        Least weight of a new observation in the means below; with 0 they are plain means.
    losses
        Loss of the model of the coming round on the data of the users whose ids it is indexed with, (n,) of
        ids (n,): a question to these users. None unless the selector asks (`Selector.asks_losses`).
    round
        t, 1-based: the coming round.
    participations
        (K,) T_k(t - 1).
    mean_speed
        (K,) mean of tau_min / tau over the rounds a user took part in; 0 before the first (v2, eq. 12).
    mean_latency
        (K,) mean of tau over the same rounds, in seconds; 0 before the first.
    privacy
        (K,) p_k(t - 1); ones at the start.
    available
        (K,) whether each user can take part in the coming round (BSFL's A_t); everyone at the start.
    since
        (K,) rounds that had passed when each user joined; 0 of those who are there from the start.
    ahead
        (K,) participations that a user who joined later is taken to have had before, where they are to be
        even: the m-th least of those who were there. 0 of those who are there from the start.
    """

    data_size: NDArray[np.int64]
    quality: NDArray[np.float64]
    cluster: NDArray[np.int64]
    n_selected: int
    latency_floor: float
    round: int
    participations: NDArray[np.int64]
    mean_speed: NDArray[np.float64]
    mean_latency: NDArray[np.float64]
    privacy: NDArray[np.float64]
    available: NDArray[np.bool_]
    forgetting: float = 0.0
    losses: Losses | None = None
    since: NDArray[np.int64] = field(default=None)  # type: ignore[arg-type]
    ahead: NDArray[np.int64] = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for name in _OF_JOINING:
            if getattr(self, name) is None:
                setattr(self, name, np.zeros(len(self.data_size), np.int64))

    @classmethod
    def empty(
        cls,
        data_size: NDArray[np.int64],
        n_selected: int,
        latency_floor: float,
        quality: NDArray[np.float64] | None = None,
        cluster: NDArray[np.int64] | None = None,
        forgetting: float = 0.0,
    ) -> History:
        """The history before round 1; by default all data are of quality 1 and all users in one cluster."""
        n_users = len(data_size)
        return cls(
            data_size=data_size,
            quality=np.ones(n_users) if quality is None else quality,
            cluster=np.zeros(n_users, np.int64) if cluster is None else cluster,
            n_selected=n_selected,
            latency_floor=latency_floor,
            round=1,
            participations=np.zeros(n_users, np.int64),
            mean_speed=np.zeros(n_users),
            mean_latency=np.zeros(n_users),
            privacy=np.ones(n_users),
            available=np.ones(n_users, np.bool_),
            forgetting=forgetting,
        )

    def candidates(self) -> NDArray[np.int64]:
        """Ids of the users available in the coming round, ascending.

        Raises
        ------
        PauseflError
            If there are fewer than m.
        """
        users = np.flatnonzero(self.available)
        if len(users) < self.n_selected:
            raise PauseflError(
                f"round {self.round}: {self.n_selected} users are to be selected, but only {len(users)} of"
                f" {len(self.available)} are available"
            )
        return users

    def observe(self, feedback: Feedback) -> None:
        """Add what a round revealed, and move on to the next round. No latency counts less than the floor."""
        users, latency = feedback.users, np.maximum(feedback.latency, self.latency_floor)
        self.participations[users] += 1
        speed, n = self.latency_floor / latency, self.participations[users]
        if self.forgetting:
            n = np.minimum(n, 1 / self.forgetting)
        self.mean_speed[users] += (speed - self.mean_speed[users]) / n
        self.mean_latency[users] += (latency - self.mean_latency[users]) / n
        self.privacy = feedback.privacy
        self.round += 1

    def correct(self, user: int, nth: int, counted: float, took: float) -> None:
        """Replace the seconds that a user's ``nth`` participation counted with by those that it took.

        Both are at least the floor.
        """
        weight = self.weight(user, nth)
        self.mean_speed[user] += (self.latency_floor / took - self.latency_floor / counted) * weight
        self.mean_latency[user] += (took - counted) * weight

    def weight(self, user: int, nth: int) -> float:
        """Weight that a user's ``nth`` participation has in its means."""
        n = np.arange(nth, self.participations[user] + 1, dtype=np.float64)
        shares = np.maximum(1 / n, self.forgetting)  # of each new observation, from that one on
        return float(shares[0] * np.prod(1 - shares[1:]))

    def change_floor(self, floor: float) -> None:
        """Have another floor, in seconds, as if it had been so from the start.

        Exact if no latency was below either of them.
        """
        if floor != self.latency_floor:
            self.mean_speed *= floor / self.latency_floor
            self.latency_floor = floor

    def join(
        self, data_size: NDArray[np.int64], quality: NDArray[np.float64], cluster: NDArray[np.int64]
    ) -> None:
        """Add n users, never seen, after those there are; arguments (n,)."""
        n, taken = len(data_size), self.participations + self.ahead
        there = taken[self.available] if self.available.any() else taken
        m = min(self.n_selected, len(there))
        new = {"data_size": data_size, "quality": quality, "cluster": cluster, "privacy": np.ones(n)}
        new |= {
            "since": np.full(n, self.round - 1),
            "ahead": np.full(n, np.partition(there, m - 1)[m - 1] if m else 0),
        }
        for name in ("data_size", "quality", "cluster", *_OBSERVED, *_OF_JOINING):
            old = getattr(self, name)
            more = new.get(name, np.zeros(n))
            setattr(self, name, np.concatenate([old, np.asarray(more, old.dtype)]))

    def state(self) -> dict[str, NDArray[Any]]:
        """Copies of everything that rounds change, by name."""
        changing = (*_OBSERVED, *_OF_JOINING)
        return {"round": np.array(self.round)} | {name: getattr(self, name).copy() for name in changing}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a `state`; in those of earlier versions everyone is there from the start.

        Raises
        ------
        PauseflError
            If an array is missing, or has a type, a shape or values that it cannot have; then nothing of the
            state is taken over.
        """
        users = (len(self.data_size),)
        round = int(saved(state, "round", np.int64, (), 1))
        found = {
            "participations": saved(state, "participations", np.int64, users, 0, round - 1),
            "mean_speed": saved(state, "mean_speed", np.float64, users, 0, _ONE),
            "mean_latency": saved(state, "mean_latency", np.float64, users, 0),
            "privacy": saved(state, "privacy", np.float64, users, 0, _ONE),
            "available": saved(state, "available", np.bool_, users),
        }
        for name in _OF_JOINING:
            found[name] = saved(
                {name: np.zeros(users, np.int64), **state}, name, np.int64, users, 0, round - 1
            )
        self.round = round
        for name, array in found.items():
            setattr(self, name, array)
