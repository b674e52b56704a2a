"""Selectors that look at reported training losses: Power-of-Choice and Oort.

A user's loss is that of its last participation. A loss that is not finite counts as larger than all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.selectors.base import Selector
from pausefl.selectors.look import DASH, SHORT_DASH, Look

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: In place of a loss that is not finite; a product with a data size stays finite.
_LARGEST = 1e30


def _reported(feedback: Feedback) -> Floats:
    """The losses (a,) of the users who answered, all finite."""
    assert feedback.losses is not None
    return np.nan_to_num(feedback.losses, nan=_LARGEST, posinf=_LARGEST, neginf=-_LARGEST)


def _drawn(users: Users, weights: Floats, n: int, rng: np.random.Generator) -> Users:
    """N users, one after another without replacement in proportion to weights >= 0.

    Those of the n least independent exponential times, whose rates are the weights (Efraimidis and Spirakis,
    IPL 2006).
    """
    order = rng.permutation(len(users))  # of users without weight, whose times are all infinite
    with np.errstate(divide="ignore"):
        times = rng.standard_exponential(len(users)) / weights[order]
    return users[order[np.argsort(times, kind="stable")[:n]]]


class PowerOfChoice(Selector):
    """The m users of largest last reported loss among d candidates, rpow-d (Cho et al., AISTATS 2022).

    The d = ``n_candidates`` candidates are drawn without replacement, in proportion to the sizes of their
    data. Users that have not reported yet have an infinite loss. One who was asked and never answered has
    that of a random user, anew in each round. Ties are broken at random. The variant pow-d has candidates
    evaluate the current model first, which is further communication and a further release.

    Attributes
    ----------
    n_candidates
        The number d of candidates, at least m.
    loss
        (K,) last reported losses; an empty array before the first round.
    """

    remembered = ("loss",)
    needs_losses = True
    look = Look("Power-of-Choice", "#1B7F8C", ">", SHORT_DASH, zorder=2.84)

    def __init__(self, n_candidates: int) -> None:
        self.n_candidates = n_candidates
        self.loss = np.zeros(0)

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users = history.candidates()
        users = _drawn(users, history.data_size[users].astype(np.float64), self.n_candidates, rng)
        users = rng.permutation(users)
        losses = self._losses(history)
        silent = users[np.isinf(losses[users]) & (history.participations[users] > 0)]
        if len(silent) and np.isfinite(losses).any():
            losses[silent] = rng.choice(losses[np.isfinite(losses)], len(silent))
        order = np.argsort(-losses[users], kind="stable")
        return np.sort(users[order[: history.n_selected]])

    def observe(self, feedback: Feedback, history: History) -> None:
        """Remember the losses that were reported."""
        self.loss = self._losses(history)
        self.loss[feedback.senders] = _reported(feedback)

    def join(self, n_users: int) -> None:
        """Nobody knows the loss of a new user."""
        if len(self.loss):
            self.loss = np.pad(self.loss, (0, n_users - len(self.loss)), constant_values=np.inf)

    def _losses(self, history: History) -> Floats:
        """A copy of the last reported losses (K,)."""
        return self.loss.copy() if len(self.loss) else np.full(len(history.data_size), np.inf)


class Oort(Selector):
    """Users of large statistical utility that are not slow, and some unexplored ones (Lai et al., OSDI 2021).

    The score of a user k who took part before, in round R (Algorithm 1):

        (U_k + sqrt(b ln R / L_k)) * (T / D_k)^alpha    if D_k > T, without the second factor otherwise.

    U_k is |B_k| times the root mean square of the losses of its |B_k| examples, clipped at a quantile of all
    explored users and scaled to [0, 1]. L_k is the last round it took part in, D_k its latency then. The
    floor((1 - eps) m) places of exploitation are drawn in proportion to the scores, among users whose score
    is at least a share c of the score that is last among the best so many. The other places are for
    unexplored users, uniformly. Places that one of the groups cannot fill are the other's. eps = max(eps_1
    decay^(R - 1), eps_least).

    The pacer starts with T = Delta. Every W rounds, T rises by Delta if the sum of the participants' U_k,
    before clipping and scaling, was smaller than over the W rounds before.

    Attributes
    ----------
    pacer_step
        Delta in seconds.
    utility, duration, last
        (K,) U_k before clipping and scaling, D_k in seconds, and L_k; empty before the first round.
    gained
        (2,) sums of the participants' utilities over the last full window, and over the current one so far.
    preferred
        () T in seconds.
    """

    remembered = ("utility", "duration", "last", "gained", "preferred")
    needs_losses, loss_power = True, 2
    look = Look("Oort", "#D1495B", ">", DASH, zorder=2.82, hollow=True)

    # Constants of the authors' code.
    #: Rounds from one look of the pacer to the next, W.
    pacer_window = 20
    #: Exponent of the penalty on users slower than the pacer allows, alpha.
    straggler_penalty = 2.0
    #: Factor b in the bonus of users who were not seen for long.
    staleness_bonus = 0.1
    #: Quantile of the utilities that larger ones are clipped to.
    utility_clip = 0.95
    #: Share of the places for unexplored users in the first round, eps_1.
    exploration_share = 0.9
    #: Factor on that share from one round to the next.
    exploration_decay = 0.98
    #: Least value that it falls to, eps_least.
    exploration_least = 0.2

    def __init__(self, pacer_step: float, utility_cutoff: float = 0.7) -> None:
        self.pacer_step, self.utility_cutoff = pacer_step, utility_cutoff
        self.utility, self.duration, self.last = np.zeros(0), np.zeros(0), np.zeros(0, np.int64)
        self.gained, self.preferred = np.zeros(2), np.array(float(pacer_step))

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users, m = history.candidates(), history.n_selected
        explored = history.participations[users] > 0
        known, unknown = users[explored], users[~explored]
        n_known = max(min(self._exploited(history.round, m), len(known)), m - len(unknown))
        return np.sort(
            np.concatenate(
                [
                    self._best(known, n_known, history.round, rng),
                    rng.choice(unknown, m - n_known, replace=False),
                ]
            )
        )

    def observe(self, feedback: Feedback, history: History) -> None:
        """Remember what users reported, and let the pacer look back at the end of a window."""
        users, t = feedback.users, history.round
        if not len(self.last):
            self.utility, self.duration = np.zeros((2, len(history.data_size)))
            self.last = np.zeros(len(history.data_size), np.int64)
        self.utility[feedback.senders] = history.data_size[feedback.senders] * _reported(feedback)
        self.duration[users], self.last[users] = feedback.latency, t
        self.gained[1] += self.utility[feedback.senders].sum()
        if t % self.pacer_window == 0:
            if t >= 2 * self.pacer_window and self.gained[1] < self.gained[0]:
                self.preferred = self.preferred + self.pacer_step
            self.gained = np.array([self.gained[1], 0.0])

    def join(self, n_users: int) -> None:
        """A new user is unexplored."""
        for name in ("utility", "duration", "last") if len(self.last) else ():
            old = getattr(self, name)
            setattr(self, name, np.pad(old, (0, n_users - len(old))))

    def _exploited(self, t: int, m: int) -> int:
        """Places of exploitation in round t; rounding does not take one away."""
        share = max(self.exploration_share * self.exploration_decay ** (t - 1), self.exploration_least)
        return int(m * (1 - share) + 1e-9)

    def _best(self, users: Users, n: int, t: int, rng: np.random.Generator) -> Users:
        """N of some explored users, by score."""
        if n == 0:
            return users[:0]
        score = self._scores(users, t)
        admitted = score >= self.utility_cutoff * np.sort(score)[-n]
        return _drawn(users[admitted], score[admitted], n, rng)

    def _scores(self, users: Users, t: int) -> Floats:
        """Scores (n,) >= 0 of some explored users in round t."""
        utility = self.utility[users]
        highest = np.quantile(utility, self.utility_clip, method="higher")
        utility = np.minimum(utility, highest) - utility.min()
        scale = utility.max()
        score = utility / (scale if scale > 0 else 1.0)
        score += np.sqrt(self.staleness_bonus * np.log(t) / self.last[users])
        pace = np.minimum(self.preferred / self.duration[users], 1.0)
        return np.asarray(score * pace**self.straggler_penalty)
