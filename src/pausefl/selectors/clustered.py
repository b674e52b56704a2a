"""Clustered sampling (Fraboni et al., Clustered Sampling, ICML 2021, Algorithms 1 and 2).

One user is sampled from each of m distributions W_1 .. W_m. Each distribution sums to 1, and user k has m p_k
over all of them, with p_k = |D_k| / |D|. So the mean of the sampled updates, each with weight 1/m, is an
unbiased estimate of full participation. A user may be sampled more than once.

Probabilities are integers: user k has m |D_k| units, which are poured into m bins of |D| units, the
distributions.

- By size (Algorithm 1): users in falling order of size fill one bin after another.
- By similarity (Algorithm 2): Ward's clustering of the angles between the users' last updates, cut into the
  largest clusters that fit into a bin. The m heaviest clusters are the cores of the bins; the others are
  poured into the room left, lightest cluster first.

A user with more units than a bin holds, a case that the papers leave out, fills whole bins alone first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.selectors.base import Remembered, Selector
from pausefl.selectors.look import DOT, LONG_DASH_DOT, Look

Floats = NDArray[np.float64]
Users = NDArray[np.int64]
#: Users (n,) and their units, in the order in which they lie in the bins, one bin after another.
Pieces = tuple[Users, Users]


def pour_by_size(size: Users, m: int, rng: np.random.Generator | None) -> Pieces:
    """Algorithm 1: users of ``size`` (n,) into m bins, each of ``size.sum()`` units.

    Users of equal size are in random order, or in that of their indices without a stream.
    """
    first = np.arange(len(size)) if rng is None else rng.permutation(len(size))
    order = first[np.argsort(-size[first], kind="stable")]
    return order, m * size[order]


def pour_by_similarity(size: Users, angle: Floats, m: int, rng: np.random.Generator) -> Pieces:
    """Algorithm 2: users of ``size`` (n,), at ``angle`` (n, n), into m bins of ``size.sum()`` units each."""
    from pausefl.selectors.ward_linkage import cut_by_weight, ward  # they load a compiler

    capacity = size.sum()
    alone, units = np.divmod(m * size, capacity)
    shuffled = rng.permutation(len(size))
    merges, _ = ward(angle[np.ix_(shuffled, shuffled)])
    label = np.empty(len(size), np.int64)
    label[shuffled] = cut_by_weight(merges, units[shuffled], capacity)
    weight = np.bincount(label, units, len(size)).astype(np.int64)
    heaviest = np.argsort(-weight, kind="stable")  # labels are in random order
    place = np.empty(len(size), np.int64)  # of a cluster, heaviest first
    place[heaviest] = np.arange(len(size))
    n_bins = m - alone.sum()
    by_cluster = shuffled[np.argsort(place[label[shuffled]], kind="stable")]
    core = by_cluster[place[label[by_cluster]] < n_bins]
    rest = shuffled[np.argsort(-place[label[shuffled]], kind="stable")]
    rest = rest[place[label[rest]] >= n_bins]
    # The rest lies on a line of its own, cut where the room left in a bin ends.
    room_end = np.cumsum(capacity - weight[heaviest[:n_bins]])
    rest_end = np.cumsum(units[rest])
    cuts = np.unique(np.concatenate([room_end, rest_end]))
    cuts = cuts[cuts > 0]
    user = np.concatenate([core, rest[np.searchsorted(rest_end, cuts)]])
    amount = np.concatenate([units[core], np.diff(cuts, prepend=0)])
    bin_ = np.concatenate([place[label[core]], np.searchsorted(room_end, cuts)])
    in_order = np.argsort(bin_, kind="stable")
    whole = np.repeat(np.arange(len(size)), alone)
    return (
        np.concatenate([whole, user[in_order]]),
        np.concatenate([np.full(len(whole), capacity), amount[in_order]]),
    )


def sample_from_bins(pieces: Pieces, m: int, rng: np.random.Generator) -> Users:
    """Sample one user from each of the m bins."""
    user, units = pieces
    end = np.cumsum(units)
    capacity = end[-1] // m
    sampled = np.arange(m) * capacity + rng.integers(capacity, size=m)
    return np.asarray(user[np.searchsorted(end, sampled, side="right")])


class ClusteredBySize(Selector):
    """Clustered sampling by the sizes of the users' data (Algorithm 1).

    Attributes
    ----------
    ties_by_index
        Whether users of equal size are poured by index, so that a bin holds users of neighbouring indices; in
        random order otherwise (deviation D79).
    """

    uniform_weights = True
    look = Look("Clustered (size)", "#912B6B", "P", DOT, width=1.5, zorder=3.4)

    def __init__(self, size_ties: str = "random") -> None:
        self.ties_by_index = size_ties == "index"

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Sample ``history.n_selected`` users, ascending, with repetitions."""
        users, ties = history.candidates(), None if self.ties_by_index else rng
        pieces = pour_by_size(history.data_size[users], history.n_selected, ties)
        return np.sort(users[sample_from_bins(pieces, history.n_selected, rng)])


def _product(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """The matrix product; by PyTorch where it is, which keeps to a job's number of threads, unlike NumPy."""
    try:
        import torch
    except ImportError:
        return np.asarray(left @ right)
    return np.asarray((torch.from_numpy(left) @ torch.from_numpy(right)).numpy())


class ClusteredBySimilarity(Selector):
    """Clustered sampling by the angles between the users' last updates (Algorithm 2).

    A user never seen has an update of zero, at angle 0 to every other. Memory: K d values.

    Attributes
    ----------
    direction
        (K, d) last update of each user as the server received it, scaled to length 1; zeros if the user was
        never seen or the update is not finite. Empty before the first round.
    cosine
        (K, K) of the angles between them.
    """

    remembered: ClassVar[Mapping[str, Remembered]] = {
        "direction": Remembered(np.float32, -1.001, 1.001, shape=("K", None)),
        "cosine": Remembered(np.float32, -1.001, 1.001, shape=("K", "K")),
    }
    uniform_weights = needs_updates = True
    look = Look("Clustered (similarity)", "#CC62A2", "P", LONG_DASH_DOT, zorder=3.3, hollow=True)

    def __init__(self) -> None:
        self.direction = np.zeros((0, 0), np.float32)
        self.cosine = np.zeros((0, 0), np.float32)
        from pausefl.selectors.ward_linkage import cut_by_weight, ward  # they load a compiler

        ward(np.zeros((2, 2)))  # compile, or load what was compiled, before the first round
        cut_by_weight(np.zeros((0, 2), np.int64), np.ones(1, np.int64), 1)

    def angle(self, users: Users) -> Floats:
        """Angles (n, n) between the last updates of ``users``, in radians."""
        if len(self.cosine) == 0:
            return np.zeros((len(users), len(users)))
        seen = self.cosine.diagonal()[users] > 0
        cosine = self.cosine[np.ix_(users, users)].astype(np.float64)
        angle = np.where(seen[:, None] & seen, np.arccos(np.clip(cosine, -1.0, 1.0)), 0.0)
        np.fill_diagonal(angle, 0.0)
        return angle

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Sample ``history.n_selected`` users, ascending, with repetitions."""
        users = history.candidates()
        pieces = pour_by_similarity(history.data_size[users], self.angle(users), history.n_selected, rng)
        return np.sort(users[sample_from_bins(pieces, history.n_selected, rng)])

    def join(self, n_users: int) -> None:
        """A user never seen has an update of zero."""
        if new := n_users - len(self.direction) if len(self.direction) else 0:
            self.direction = np.pad(self.direction, ((0, new), (0, 0)))
            self.cosine = np.pad(self.cosine, (0, new))

    def observe(self, feedback: Feedback, history: History) -> None:
        """Keep the directions of the updates, and their cosines with all others."""
        assert feedback.updates is not None
        if not len(users := feedback.senders):
            return
        n_values, before = feedback.updates.shape[1], self.direction.shape[1]
        if len(self.direction) == 0:
            n_users = len(history.data_size)
            self.direction = np.zeros((n_users, n_values), np.float32)
            self.cosine = np.zeros((n_users, n_users), np.float32)
        elif n_values != before:
            raise PauseflError(f"updates have {n_values} values, those of earlier rounds {before}")
        length = np.linalg.norm(feedback.updates.astype(np.float64), axis=1, keepdims=True)
        usable = np.isfinite(length) & (length > 0)
        direction = np.where(usable, feedback.updates / np.where(usable, length, 1.0), 0.0)
        self.direction[users] = direction
        rows = _product(self.direction[users], self.direction.T)
        rows[:, users] = (
            rows[:, users] + rows[:, users].T
        ) / 2  # equal but for rounding before, now to the bit
        self.cosine[users], self.cosine[:, users] = rows, rows.T
