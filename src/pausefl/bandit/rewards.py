"""Rewards of a selection: generalisation, privacy and speed (PAUSE v2, III and V-A; BSFL, III).

A `Reward` is the worth of a selection apart from its speed. It has three parts: a score of each user,
clusters of users, and a penalty on the number of selected users that share a cluster. A search adds the
bandit index, a genie the true speed. If the penalty is convex, `pausefl.selectors.exact` finds the best
selection.

Conventions of the authors' code, which reproduce its logs: quantities at round t use what was observed up to
t - 1, with ln t in the bandit index and T_k(t - 1) / t in the generalisation reward.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.plugins import Plugins
from pausefl.streams import Streams

Floats = NDArray[np.float64]
Users = NDArray[np.int64]


def generalization(history: History, beta: float, weight: Floats | Users) -> Floats:
    """g_k (K,): by how much a user took part less than its share of the weight (v2, eq. 8; BSFL, eq. 4).

    In [-1, 1] if no user holds more than 1 / m of the weight. Of a user who joined later, the rounds since
    then count.

    Parameters
    ----------
    history
        What was observed before the round.
    beta
        Exponent.
    weight
        (K,) weight of each user, e.g. the number of its examples.
    """
    share = history.n_selected * weight / weight.sum()
    gap = share - history.participations / (history.round - history.since)
    return np.asarray(np.abs(gap) ** beta * np.sign(gap))


def confidence_bound(history: History, exploitation: float) -> Floats:
    """ucb(k, t) (K,): scaled mean speed plus exploration; infinite for users never seen (v2, eq. 13)."""
    seen = history.participations > 0
    bound = np.full(seen.shape, np.inf)
    exploration = (history.n_selected + 1) * np.log(history.round) / history.participations[seen]
    bound[seen] = exploitation * history.mean_speed[seen] + np.sqrt(exploration)
    return bound


def assign_clusters(n_users: int, n_clusters: int, how: str, streams: Streams) -> Users:
    """Cluster (K,) of each of K users; clusters differ by at most one in size.

    ``random``: a random partition of the users. ``index``: index modulo number of clusters.
    """
    clusters = np.arange(n_users) % n_clusters
    return clusters if how == "index" else streams.generator("clusters").permutation(clusters)


def total_penalty(costs: Floats, clusters: Users) -> float:
    """Penalty on users of ``clusters`` (n,); the j-th user of a cluster costs ``costs[j - 1]``."""
    return float(np.concatenate([[0.0], np.cumsum(costs)])[np.bincount(clusters)].sum())


def penalty_range(costs: Floats) -> float:
    """Bound on the difference in penalty between two selections of ``len(costs)`` users."""
    return len(costs) * float(np.ptp(costs))


class Reward(ABC):
    """The worth of a selection S of m users apart from its speed.

    The sum of ``scores`` over S, less ``costs(m)[0] + ... + costs(m)[j - 1]`` for each cluster with j users
    in S.
    Its constructor takes keys of the section ``reward`` of a scenario.
    """

    #: Whether the privacy that users have left counts; without, ``reward.gamma`` must be 0.
    has_privacy_term: ClassVar[bool] = True
    #: Whether users are in clusters; then ``reward.n_clusters`` must be given.
    uses_clusters: ClassVar[bool] = False
    #: Whether it looks at the quality of users' data.
    uses_quality: ClassVar[bool] = False
    #: What it is, for the reference of settings.
    about: ClassVar[str] = ""

    @abstractmethod
    def scores(self, history: History) -> Floats:
        """Value that each user adds to a selection of ``history.n_selected`` users, (K,), finite."""

    def clusters(self, history: History) -> Users:
        """Cluster (K,) of each user, from 0."""
        return np.zeros(len(history.data_size), np.int64)

    def costs(self, n_selected: int) -> Floats:
        """Steps of the penalty (n_selected,): what the 1st, 2nd, ... selected user of a cluster costs.

        The exact search needs a convex penalty, whose steps never fall.
        """
        return np.zeros(n_selected)

    @abstractmethod
    def range(self, n_selected: int) -> float:
        """Bound on the difference in worth between any two selections of ``n_selected`` users."""

    @abstractmethod
    def without_privacy(self) -> Self:
        """The same reward with no weight on the privacy term."""

    def delay(self, history: History, selection: Users) -> float:
        """Simulated seconds that a selection takes beyond the latency of its slowest user."""
        return 0.0

    def value(self, history: History, selection: Users, speed: Floats) -> float:
        """Least speed + alpha Phi_g + gamma Phi_p of a selection of any size (v2, eq. 9).

        Parameters
        ----------
        history
            What was observed before the round.
        selection
            The selected users, each once.
        speed
            tau_min / tau of these users, same shape: realised for the reward, expected for the genie.
        """
        mean_score = self.scores(history)[selection].mean() * history.n_selected
        penalty = total_penalty(self.costs(len(selection)), self.clusters(history)[selection])
        return float(speed.min() + mean_score - penalty)


@dataclass(frozen=True)
class AverageReward(Reward):
    """R1: generalisation and privacy terms are means over the selection (v2, eq. 18).

    score_k = (alpha g_k + gamma p_k) / m, and no penalty.
    """

    about = "mean generalisation and mean privacy terms (PAUSE v2, eq. 18)"

    alpha: float
    beta: float
    gamma: float

    def generalization(self, history: History) -> Floats:
        """g_k (K,), with shares of the data."""
        return generalization(history, self.beta, history.data_size)

    def scores(self, history: History) -> Floats:
        """(alpha g_k + gamma p_k) / m (K,)."""
        gain = self.alpha * self.generalization(history) + self.gamma * history.privacy
        return np.asarray(gain / history.n_selected)

    def range(self, n_selected: int) -> float:
        """2 alpha + gamma plus the range of the penalty: g spans 2 and p spans 1 (v2, Lemma 1)."""
        return 2 * self.alpha + self.gamma + penalty_range(self.costs(n_selected))

    def without_privacy(self) -> Self:
        """Gamma = 0."""
        return dataclasses.replace(self, gamma=0.0)


@dataclass(frozen=True)
class OverlapReward(AverageReward):
    """R2: R1 less rho for each overlap, a selected user beyond the first of its cluster (v2, eq. 22).

    Each overlap also costs ``overlap_latency`` seconds (v2, Section V-A).
    """

    about = "`r1` less a penalty for users of the same cluster (PAUSE v2, eq. 22)"
    uses_clusters = True

    overlap_penalty: float
    overlap_latency: float

    def clusters(self, history: History) -> Users:
        """The clusters of the network."""
        return history.cluster

    def costs(self, n_selected: int) -> Floats:
        """Nothing for the first user of a cluster, alpha rho for every other."""
        return np.where(np.arange(n_selected) > 0, self.alpha * self.overlap_penalty, 0.0)

    def delay(self, history: History, selection: Users) -> float:
        """``overlap_latency`` for each overlap."""
        counts = np.bincount(history.cluster[selection])
        return self.overlap_latency * float(np.maximum(counts - 1, 0).sum())


@dataclass(frozen=True)
class QualityReward(AverageReward):
    """BSFL's reward: shares of quality times size of the data, no privacy term (BSFL, eqs. 4, 5)."""

    about = "generalisation weighted by size and quality of the data, no privacy term (BSFL, eq. 4)"
    has_privacy_term = False
    uses_quality = True

    def generalization(self, history: History) -> Floats:
        """g_k (K,), with shares of quality times size."""
        return generalization(history, self.beta, history.quality * history.data_size)


#: In the order of the reference of settings.
REWARDS = Plugins(
    "reward",
    Reward,  # type: ignore[type-abstract]
    {
        "r1": AverageReward,
        "r2": OverlapReward,
        "bsfl": QualityReward,
    },
)
