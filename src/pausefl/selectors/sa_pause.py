"""SA-PAUSE, ALSA and plain annealing (PAUSE v2, Algorithm 3; v1, Algorithm 2; BSFL, Section V).

They differ in the graph that `pausefl.selectors.annealing` walks, and in its temperature.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.bandit.rewards import AverageReward, penalty_range
from pausefl.errors import ConfigError
from pausefl.selectors.look import DASH, DASH_DOT, DASH_DOT_DOT, LONG_DASH, Look
from pausefl.selectors.search import AnnealingSearch, Objective

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: omega of deviation D4: keeps the temperature positive when all energies are equal.
_OMEGA = 1e-9


class Annealer(AnnealingSearch):
    """Annealing on the graph, and from the temperature, that a subclass defines.

    Attributes
    ----------
    graph
        Criteria by one of which a neighbour must be least, out of ``ucb``, ``p`` and ``g``; none admits every
        swap. The temperature of iteration j is C / (kappa log(1 + j)) (v2, Section V-D).

    Raises
    ------
    ConfigError
        If ``g`` is among the criteria, and the reward has no g_k.
    """

    graph: ClassVar[tuple[str, ...]] = ()
    anneals = True

    def criteria(self, objective: Objective, history: History, users: Users) -> tuple[Floats, ...]:
        """Values (n,) of the users by each criterion of the graph."""
        values = {"ucb": objective.bound, "p": history.privacy[users]}
        if "g" in self.graph:
            if not isinstance(self.reward, AverageReward):
                raise ConfigError(
                    f"{type(self).__name__} sorts users by g_k, which {type(self.reward).__name__} lacks:"
                    " derive the reward from AverageReward, or use another selector"
                )
            values["g"] = self.reward.generalization(history)[users]
        return tuple(values[name] for name in self.graph)

    def largest_gap(self, objective: Objective, history: History, users: Users) -> float:
        """C (v2, eq. 20, deviation D4): no two energies differ by more if nobody has over 1/m of the data."""
        # The m-th largest index is finite, as fewer than m users are unseen.
        m, bound = objective.n_selected, np.sort(objective.bound)
        return float(bound[-m] - bound[0] + self.reward.range(m) + _OMEGA)

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Anneal from a random selection."""
        return self.anneal(objective, history, users, rng)

    def anneal(
        self,
        objective: Objective,
        history: History,
        users: Users,
        rng: np.random.Generator,
        n_iterations: int | None = None,
        energies: Floats | None = None,
    ) -> Users:
        """Best of the selections met.

        Parameters
        ----------
        objective, history, users
            As in `search`.
        rng
            Samples the start, the neighbours and what is accepted.
        n_iterations
            J; the selector's own by default.
        energies
            (J,) filled with the energy after each iteration, if given.

        Returns
        -------
        (m,) users, in no order.
        """
        from pausefl.selectors.annealing import anneal  # it loads a compiler

        n_users, m = len(objective.bound), objective.n_selected
        shuffled, start = rng.permutation(n_users), rng.permutation(n_users)
        gap = self.scale(objective, self.largest_gap(objective, history, users), rng)
        lists = np.stack([objective.bound, *self.criteria(objective, history, users)])
        order = shuffled[np.argsort(lists[:, shuffled], axis=1, kind="stable")]
        return np.asarray(
            anneal(
                order[0],
                order[1:],
                objective.bound,
                objective.score,
                objective.cluster,
                objective.costs,
                start[:m],
                start[m:],
                max(gap, _OMEGA) / self.temperature_divisor,
                self.n_iterations if n_iterations is None else n_iterations,
                rng,
                np.empty(0) if energies is None else energies,
            )
        )


class SaPause(Annealer):
    """SA-PAUSE on the graph of the ucb alone (v2, Algorithm 3)."""

    graph = ("ucb",)
    # It follows PAUSE closely: light dashes on top of the solid line leave both visible.
    look = Look("SA-PAUSE", "#3A97DB", "s", DASH, width=1.5, zorder=4.2)


class SaPauseV1(Annealer):
    """SA-PAUSE of the first version, on the graph of ucb, p and g (v1, Algorithm 2)."""

    graph = ("ucb", "p", "g")
    look = Look("SA-PAUSE (v1)", "#004A94", "s", DASH_DOT_DOT, zorder=3.9, hollow=True)

    def largest_gap(self, objective: Objective, history: History, users: Users) -> float:
        """C from the m largest and the m least of each list (v1, eq. 19), and the largest penalty."""
        assert isinstance(self.reward, AverageReward)
        m = objective.n_selected
        bound, p, g = (np.sort(values) for values in self.criteria(objective, history, users))
        return float(
            bound[-m]
            - bound[0]
            + self.reward.alpha * (g[-m:].mean() - g[:m].mean())
            + self.reward.gamma * (p[-m:].mean() - p[:m].mean())
            + penalty_range(objective.costs)
            + _OMEGA
        )


class SaVanilla(Annealer):
    """Plain annealing: every swap is a neighbour, m (K - m) of them (v2, Section IV-B)."""

    look = Look("PAUSE by plain SA", "#6C8EC4", "d", LONG_DASH, zorder=3.8, hollow=True)

    def largest_gap(self, objective: Objective, history: History, users: Users) -> float:
        """C = 2 alpha + gamma + 1 (v2, Section IV-B), and the largest penalty."""
        return self.reward.range(objective.n_selected) + 1.0


class Alsa(Annealer):
    """ALSA: BSFL's objective on the graph of ucb and g (BSFL, eqs. 17, 19)."""

    graph = ("ucb", "g")
    with_privacy = False
    look = Look("ALSA", "#00664A", "D", DASH, zorder=3.75)


class SaBsfl(Annealer):
    """Plain annealing of BSFL's objective (BSFL, eqs. 17, 18)."""

    with_privacy = False
    look = Look("BSFL by plain SA", "#5A9160", "D", DASH_DOT, zorder=3.6, hollow=True)
