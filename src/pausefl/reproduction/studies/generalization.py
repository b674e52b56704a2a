"""The generalisation reward of one user against its share of the rounds (PAUSE v2, Fig. 1; BSFL, Fig. 2)."""

from __future__ import annotations

from itertools import cycle, product
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import model_validator

from pausefl.analysis.figures.panels import NOTE, Plotted, shades
from pausefl.analysis.figures.style import new_figure
from pausefl.bandit.history import History
from pausefl.bandit.rewards import generalization
from pausefl.reproduction.studies.base import AtLeastTwo, Note, Study, Tables
from pausefl.schema.types import Count, Distinct, Positive
from pausefl.selectors.look import DASH, DASH_DOT, DOT, LONG_DASH, SHORT_DASH, SOLID, Line

#: Lines from the smallest exponent on; colours go from light to dark, so that both tell them apart.
_LINES: tuple[Line, ...] = (LONG_DASH, SOLID, DASH, DOT, DASH_DOT, SHORT_DASH)
_SHADES = ((0.22, 0.55, 0.80), (0.0, 0.08, 0.20))


class Generalization(Study):
    """The generalisation reward against the share of rounds (PAUSE v2, Fig. 1; BSFL, Fig. 2)."""

    label = "what a user is worth against how often it took part"

    n_users: Count
    """Number of users K, who hold equally much data."""
    n_selected: Count
    """Users m selected in a round; the reward is 0 at a share of m/K."""
    betas: Distinct[Positive]
    """Exponents, a line for each."""
    n_rounds: AtLeastTwo
    """Rounds t of the history; a line has a point for each number of rounds from 0 to t."""

    @model_validator(mode="after")
    def _enough_users(self) -> Self:
        if self.n_selected > self.n_users:
            raise ValueError(f"n_selected = {self.n_selected} exceeds n_users = {self.n_users}")
        return self

    def compute(self, note: Note) -> Tables:
        """Values of g as the searches have them, for a user that took part in 0, 1, ... t of t rounds.

        ``generalization.csv``, one row for each beta and number of rounds: ``beta``, ``participation`` T / t
        in [0, 1] and ``reward`` g in [-1, 1].
        """
        history = History.empty(np.ones(self.n_users, np.int64), self.n_selected, latency_floor=1.0)
        history.round = self.n_rounds
        rows = []
        for beta, taken in product(self.betas, range(self.n_rounds + 1)):
            history.participations[0] = taken
            reward = float(generalization(history, beta, history.data_size)[0])
            rows.append({"beta": beta, "participation": taken / self.n_rounds, "reward": reward})
        return {"generalization.csv": pd.DataFrame(rows)}

    def plot(self, tables: Tables) -> Plotted:
        """One line for each exponent; a thin line marks the share m / K at which the reward is 0."""
        table, share = tables["generalization.csv"], self.n_selected / self.n_users
        betas = sorted(table["beta"].unique())
        figure, axes = new_figure(2.7)
        axes.axhline(0, color="black", linewidth=0.5, zorder=2)
        axes.axvline(share, color="black", linewidth=0.5, zorder=2)
        for beta, color, line in zip(betas, shades(*_SHADES, len(betas)), cycle(_LINES), strict=False):
            curve = table[table["beta"] == beta]
            look: dict[str, Any] = {"color": color, "linestyle": line, "linewidth": 1.5}
            axes.plot(curve["participation"], curve["reward"], label=f"{beta:g}", **look)
        place: dict[str, Any] = {"va": "bottom", **NOTE, "fontsize": 8}
        axes.annotate(f"fair share m / K = {share:.2g}", (share, axes.get_ylim()[0]), (3, 2), **place)
        axes.set(
            xlim=(0, 1), xlabel="Share of the rounds with this user, T / t", ylabel="Generalisation reward g"
        )
        figure.legend(loc="outside lower center", ncols=4, title="Exponent β")
        return Plotted(figure)
