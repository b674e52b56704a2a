"""The graphs that annealing walks on, listed from their definition (BSFL, eqs. 18, 19 and Fig. 3).

Vertices are the selections of m of K users. Plain annealing joins those that differ in one user, m (K - m) to
each. The thinner graphs keep an edge if the user who leaves is least of the one selection, or the user who
enters least of the other, by some criterion (BSFL, eq. 19; PAUSE v2, Section IV-A; v1, Algorithm 2). The
annealers sample from these graphs without listing them; here every edge is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pausefl.selectors.sa_pause import Alsa, SaBsfl, SaPause, SaPauseV1
from pausefl.streams import Streams

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_WALKERS = (("sa_bsfl", SaBsfl), ("alsa", Alsa), ("sa_pause", SaPause), ("sa_pause_v1", SaPauseV1))

#: The criteria by which one of the two users must be least, by the selector that walks on the graph.
CRITERIA = {name: walker.graph for name, walker in _WALKERS}


@dataclass(frozen=True)
class Swaps:
    """All pairs of selections that differ in one user: the edges of plain annealing."""

    #: (N, K) whether a user is in a selection.
    member: Bools
    #: (E,) the two selections of a pair, u < v.
    u: Indices
    v: Indices
    #: (E,) the user of u who is not in v, and the one of v who is not in u.
    only_u: Indices
    only_v: Indices

    @classmethod
    def of(cls, n_users: int, n_selected: int) -> Swaps:
        """List them. Needs 4 N^2 bytes for N selections: 0.7 GB for 8 of 16 users."""
        selections = np.array(list(combinations(range(n_users), n_selected)))
        member = np.zeros((len(selections), n_users), np.bool_)
        np.put_along_axis(member, selections, True, axis=1)
        in_common = member.astype(np.float32) @ member.T.astype(np.float32)
        u, v = np.nonzero(np.triu(in_common == n_selected - 1))
        only_u, only_v = (member[u] & ~member[v]).argmax(axis=1), (member[v] & ~member[u]).argmax(axis=1)
        return cls(member, u, v, only_u, only_v)

    def kept(self, criteria: Sequence[Floats]) -> Bools:
        """Which edges (E,) have a user who is least of its selection by one of the criteria (K,) each."""
        if not criteria:
            return np.ones(len(self.u), np.bool_)
        kept = np.zeros(len(self.u), np.bool_)
        for values in criteria:
            least = np.where(self.member, values, np.inf).argmin(axis=1)
            kept |= (least[self.u] == self.only_u) | (least[self.v] == self.only_v)
        return kept

    def energies(self, ucb: Floats, g: Floats) -> Floats:
        """Min ucb + mean g of every selection (N,)."""
        n_selected = self.member[0].sum()
        return np.asarray(np.where(self.member, ucb, np.inf).min(axis=1) + self.member @ g / n_selected)


def sample_criteria(n_users: int, instance: int) -> dict[str, Floats]:
    """The criteria (K,) of an instance."""
    rng = Streams(instance).generator("graph")
    return {name: rng.random(n_users) for name in ("ucb", "g", "p")}
