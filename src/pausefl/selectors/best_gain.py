"""The annealer of the PAUSE authors' later logs (of v2, Figs. 3, 5 and 8 to 15), which is not Algorithm 3.

It walks the graph of the ucb, as SA-PAUSE does (`pausefl.selectors.annealing`), but its neighbours are not
equally likely: one of gain d is drawn with a probability in proportion to exp(d / 1e-4), so nearly always the
one of the largest gain. The gain of a swap is the difference in alpha and gamma terms, and what the least ucb
falls by; it does not see what the least ucb rises by, nor the penalty of R2. Which neighbours are accepted
depends on the full energy:

- one that is better by at least max(1e-8, 1e-8 C) always is,
- one that is better by less in half of all cases,
- any other with probability exp(difference / tau_i), where tau_i = C / (kappa ln(i + 1)) for i = 0, 1, ...,
  so always in the first iteration.

C = (m-th smallest ucb - smallest ucb) + 2 alpha + gamma. The walk starts from random users in every round,
and returns the best selection that a move of the first kind led to, or the start if there was none
(deviation D77).

A gain has a part of the user that enters and one of the user that leaves. So the leaving user is drawn first,
with the sum of the weights of those that may enter for it, and then one of these: O(n) an iteration, not
O(m n), the size of the neighbourhood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import penalty_range
from pausefl.selectors.look import DASH_DOT_DOT, Look
from pausefl.selectors.search import AnnealingSearch, Objective

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: Temperature of the draw of a neighbour.
_SOFTNESS = 1e-4
#: A rise of the energy below this, or this share of C, is accepted in half of all cases.
_SMALL_RISE = 1e-8


class SaPauseBestGain(AnnealingSearch):
    """SA-PAUSE as in the authors' later logs: it draws a neighbour by its gain."""

    look = Look("SA-PAUSE (best gain)", "#3A7BD5", "d", DASH_DOT_DOT, zorder=3.85)

    def largest_gap(self, objective: Objective) -> float:
        """C: the range of the m least bounds, and that of the reward without its penalty."""
        m, finite = objective.n_selected, np.sort(objective.bound[np.isfinite(objective.bound)])
        of_reward = self.reward.range(m) - penalty_range(self.reward.costs(m))
        return float(finite[:m][-1] - finite[0] + of_reward)

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Anneal from a random selection."""
        from pausefl.selectors.best_gain_walk import anneal  # it loads a compiler

        n_users, m = len(objective.bound), objective.n_selected
        shuffled, start = rng.permutation(n_users), rng.permutation(n_users)
        rank = np.empty(n_users, np.int64)
        rank[shuffled[np.argsort(objective.bound[shuffled], kind="stable")]] = np.arange(n_users)
        gap = self.scale(objective, self.largest_gap(objective), rng)
        return np.asarray(
            anneal(
                objective.bound,
                objective.score,
                objective.cluster,
                objective.costs,
                rank,
                start[:m],
                start[m:],
                max(gap / self.temperature_divisor, np.finfo(np.float64).tiny),
                max(_SMALL_RISE, _SMALL_RISE * gap),
                _SOFTNESS,
                self.n_iterations,
                rng,
            )
        )
