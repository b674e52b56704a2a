"""Selectors that look at users' losses: Power-of-Choice in two variants, and Oort.

A loss that is not finite counts as larger than all others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.selectors.base import Remembered, Selector
from pausefl.selectors.look import DASH, SHORT_DASH, SOLID, Look

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: In place of a loss that is not finite; a product with a data size stays finite.
_LARGEST = 1e30


def _finite(losses: Floats | None) -> Floats:
    """Losses (n,), all finite."""
    assert losses is not None
    return np.nan_to_num(losses, nan=_LARGEST, posinf=_LARGEST, neginf=-_LARGEST)


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
    that of a random user, anew in each round. Ties are broken at random. `PowD` is the variant whose
    candidates evaluate the current model.

    Attributes
    ----------
    n_candidates
        The number d of candidates, at least m.
    loss
        (K,) last reported losses; an empty array before the first round.
    """

    remembered: ClassVar[Mapping[str, Remembered]] = {"loss": Remembered(np.float64, most=math.inf)}
    needs_losses = True
    look = Look("rpow-d", "#1B7F8C", ">", SHORT_DASH, zorder=2.84)

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
        self.loss[feedback.senders] = _finite(feedback.losses)

    def join(self, n_users: int) -> None:
        """Nobody knows the loss of a new user."""
        if len(self.loss):
            self.loss = np.pad(self.loss, (0, n_users - len(self.loss)), constant_values=np.inf)

    def _losses(self, history: History) -> Floats:
        """A copy of the last reported losses (K,)."""
        return self.loss.copy() if len(self.loss) else np.full(len(history.data_size), np.inf)


class PowD(Selector):
    """The m users of largest loss of the current model among d candidates, pow-d (Cho et al., AISTATS 2022).

    The d = ``n_candidates`` candidates are drawn without replacement, in proportion to the sizes of their
    data. Each evaluates the model of the coming round on its own data and reports the loss, which is further
    communication, whose time is not counted, and a further release: it runs without privacy. Ties are broken
    at random.

    Attributes
    ----------
    n_candidates
        The number d of candidates, at least m.
    """

    asks_losses = True
    look = Look("pow-d", "#0F5560", "h", SOLID, zorder=2.83, hollow=True)

    def __init__(self, n_candidates: int) -> None:
        self.n_candidates = n_candidates

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users; `PauseflError` if nobody can be asked for losses."""
        if history.losses is None:
            raise PauseflError("pow-d asks candidates for the loss of the current model: it needs training")
        users = history.candidates()
        users = _drawn(users, history.data_size[users].astype(np.float64), self.n_candidates, rng)
        users = rng.permutation(users)
        order = np.argsort(-_finite(history.losses[users]), kind="stable")
        return np.sort(users[order[: history.n_selected]])


class Oort(Selector):
    """Users of large statistical utility that are not slow, and some unexplored ones (Lai et al., OSDI 2021).

    As in the authors' released selector (SymbioticLab/Oort, 05a3aa1); D75 says what differs. The utility U_k
    is |B_k| times the root mean square of the losses of user k's |B_k| examples, and |B_k| before it has
    reported. The score of a user k who took part before, in round R, is

        (u_k + sqrt(b ln R / L_k)) * (T / D_k)^alpha    if D_k > T, without the second factor otherwise,

    where u_k is U_k, clipped at a quantile of all utilities and scaled by their range, L_k the last round it
    took part in, and D_k its latency then. The floor((1 - eps) m) places of exploitation are drawn in
    proportion to the scores, among users whose score is at least a share c of that of the best user beyond so
    many. The other places are for unexplored users, in proportion to |B_k| among the w times as many of most
    data; any that are left are drawn uniformly. eps = max(eps_1 decay^R, eps_least), and 0 once everyone has
    taken part.

    The pacer sets T, the latency that is not penalised, to a percentile of the latencies D. Every W rounds it
    compares the utility per exploited user, summed over the last W rounds, with the sum before: if they
    differ by at most a tenth, the percentile rises by Delta; if by five times or more, it falls by Delta.

    Attributes
    ----------
    utility, duration, last
        (K,) U_k, D_k in seconds, and L_k; empty before the first round.
    gained
        (2,) sums of the mean utilities of exploited users over the last full window, and over the current one
        so far.
    percentile
        () of the latencies that is T, in [0, 100].
    """

    remembered: ClassVar[Mapping[str, Remembered]] = {
        "utility": Remembered(np.float64),
        "duration": Remembered(np.float64, 0),
        "last": Remembered(np.int64, 0, below="round"),
        "gained": Remembered(np.float64, shape=(2,)),
        "percentile": Remembered(np.float64, 0, 100, shape=()),
    }
    needs_losses, loss_power = True, 2
    look = Look("Oort", "#D1495B", ">", DASH, zorder=2.82, hollow=True)

    #: Utilities are flat if they differ by at most this share, and jump if by so many times, or more.
    flat, jump = 0.1, 5.0

    def __init__(
        self,
        utility_cutoff: float = 0.7,
        utility_clip: float = 0.98,
        straggler_penalty: float = 2.0,
        staleness_bonus: float = 0.1,
        exploration_share: float = 0.9,
        exploration_decay: float = 0.95,
        exploration_least: float = 0.2,
        exploration_window: float = 5.0,
        pacer_percentile: float = 10.0,
        pacer_step: int = 20,
        pacer_delta: float = 5.0,
    ) -> None:
        self.utility_cutoff, self.utility_clip = utility_cutoff, utility_clip
        self.straggler_penalty, self.staleness_bonus = straggler_penalty, staleness_bonus
        self.exploration_share, self.exploration_decay = exploration_share, exploration_decay
        self.exploration_least, self.exploration_window = exploration_least, exploration_window
        self.pacer_step, self.pacer_delta = pacer_step, pacer_delta
        self.utility, self.duration, self.last = np.zeros(0), np.zeros(0), np.zeros(0, np.int64)
        self.gained, self.percentile = np.zeros(2), np.array(float(pacer_percentile))

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select ``history.n_selected`` users."""
        users, m = history.candidates(), history.n_selected
        explored = history.participations > 0
        known, unknown = users[explored[users]], rng.permutation(users[~explored[users]])
        n_known = min(int(m * (1 - self._exploration(history)) + 1e-9), len(known))
        n_unknown = min(m - n_known, len(unknown))
        size = history.data_size[unknown].astype(np.float64)
        pool = np.argsort(-size, kind="stable")[: int(self.exploration_window * n_unknown)]
        chosen = np.concatenate(
            [
                self._exploited(known, n_known, history, rng),
                _drawn(unknown[pool], size[pool], n_unknown, rng),
            ]
        )
        rest = rng.permutation(np.setdiff1d(users, chosen))[: m - len(chosen)]
        return np.sort(np.concatenate([chosen, rest]))

    def observe(self, feedback: Feedback, history: History) -> None:
        """Remember what users reported; at the end of a window the pacer looks back."""
        users, senders, t = feedback.users, feedback.senders, history.round
        if not len(self.last):
            self.utility, self.duration = (
                history.data_size.astype(np.float64),
                np.zeros(len(history.data_size)),
            )
            self.last = np.zeros(len(history.data_size), np.int64)
        self.utility[senders] = history.data_size[senders] * _finite(feedback.losses)
        self.duration[users], self.last[users] = feedback.latency, t
        exploited = senders[history.participations[senders] > 0]
        self.gained[1] += self.utility[exploited].mean() if len(exploited) else 0.0
        if (t + 1) % self.pacer_step == 0:
            if t + 1 >= 2 * self.pacer_step:
                self._pace()
            self.gained = np.array([self.gained[1], 0.0])

    def correct(self, user: int, took: float) -> None:
        """Remember how long the last round of a user took."""
        if len(self.duration):
            self.duration[user] = took

    def join(self, n_users: int) -> None:
        """A new user is unexplored."""
        for name in ("utility", "duration", "last") if len(self.last) else ():
            old = getattr(self, name)
            setattr(self, name, np.pad(old, (0, n_users - len(old))))

    def _exploration(self, history: History) -> float:
        """Share eps of the places that are for unexplored users."""
        if (history.participations > 0).all():
            return 0.0
        decayed = self.exploration_share * self.exploration_decay**history.round
        return float(max(decayed, self.exploration_least))

    def _pace(self) -> None:
        """Raise the percentile if utilities are flat, lower it if they jump."""
        before, now = self.gained
        if abs(now - before) <= self.flat * before:
            self.percentile = np.array(min(self.percentile + self.pacer_delta, 100.0))
        elif abs(now - before) >= self.jump * before:
            self.percentile = np.array(max(self.percentile - self.pacer_delta, self.pacer_delta))

    def _preferred(self, history: History) -> float:
        """T in seconds: the percentile of the latencies of all who have taken part; infinite at 100."""
        durations = np.sort(self.duration[history.participations > 0])
        if self.percentile >= 100 or not len(durations):
            return np.inf
        return float(durations[min(int(len(durations) * self.percentile / 100), len(durations) - 1)])

    def _exploited(self, users: Users, n: int, history: History, rng: np.random.Generator) -> Users:
        """N of some explored users, by score."""
        if n == 0:
            return users[:0]
        score = self._scores(users, history)
        cutoff = np.sort(score)[::-1][min(n, len(score) - 1)]
        admitted = score >= self.utility_cutoff * cutoff
        return _drawn(users[admitted], score[admitted], n, rng)

    def _scores(self, users: Users, history: History) -> Floats:
        """Scores (n,) >= 0 of some explored users in a round."""
        known = np.where(history.participations > 0, self.utility, history.data_size)
        ranked = known[history.candidates()]
        ranked = np.sort(ranked[ranked > 0])  # noise can make a reported loss negative
        if not len(ranked):
            ranked = np.zeros(1)
        least, clip = 0.999 * ranked[0], ranked[min(int(len(ranked) * self.utility_clip), len(ranked) - 1)]
        scale = max(ranked[-1] - least, 1e-4)
        score = (np.clip(self.utility[users], least, clip) - least) / scale
        score += np.sqrt(self.staleness_bonus * np.log(history.round) / self.last[users])
        pace = np.minimum(self._preferred(history) / self.duration[users], 1.0)
        return np.asarray(score * pace**self.straggler_penalty)
