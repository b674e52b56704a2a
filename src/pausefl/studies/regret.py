"""How much a selector loses against the genie, and the law by which that grows (PAUSE v2, Theorem 3; BSFL).

The pseudo-regret of a round is C^G of the genie's choice less C^G of the selector's, both on the selector's
own history (PAUSE v2, eqs. 10, 15; BSFL, eqs. 6, 7; deviation D11). Regret is its sum over the rounds so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.errors import PauseflError
from pausefl.settings import Scenario
from pausefl.settings.studies import Regret
from pausefl.studies.simulate import selection_only

if TYPE_CHECKING:
    from pausefl.federated.simulation import PseudoRegret

#: Rounds kept of a run, at most: 60 a decade in a run of 100,000.
N_KEPT = 301


def kept_rounds(n_rounds: int) -> NDArray[np.int64]:
    """At most `N_KEPT` rounds, the first and last among them, as evenly spaced in ln t as integers can be."""
    return np.unique(np.rint(np.geomspace(1, n_rounds, N_KEPT)).astype(np.int64))


@dataclass(frozen=True)
class Quantised:
    """Regret of rewards rounded down to multiples of a step (BSFL, Section III-C).

    Rounding keeps the order of rewards, so the genie's choice is still best.
    """

    exact: PseudoRegret
    step: float

    def of(self, users: NDArray[np.int64], history: History) -> float:
        """Regret of selecting ``users``, a multiple of the step."""
        ours = self.exact.reward.value(history, users, self.exact.speeds[users])
        genies = ours + self.exact.of(users, history)
        if math.isnan(genies):
            return genies
        return self.step * (math.floor(genies / self.step) - math.floor(ours / self.step))


def run(
    scenario: Scenario, selector: str, seed: int, n_rounds: int, step: float | None = None
) -> pd.DataFrame:
    """Simulate a scenario beside the genie; rewards are `Quantised` by a step, if one is given.

    All rounds are in memory until the end, at 1 kB each: 100 MB for 100,000 rounds.

    Returns
    -------
    pandas.DataFrame
        One row for each of `kept_rounds`: ``round``, ``regret`` of the rounds up to it, and ``elapsed_s`` in
        simulated seconds.

    Raises
    ------
    PauseflError
        If the selector does not select m users in every round, as the genie does (deviation D49).
    """
    simulation = selection_only(scenario, selector, seed, genie=True)
    if step is not None:
        assert simulation.regret is not None
        simulation.regret = cast("PseudoRegret", Quantised(simulation.regret, step))
    rounds = simulation.run(n_rounds).rounds
    if rounds["pseudo_regret"].isna().any():
        raise PauseflError(
            f"selector '{selector}' has no regret: it does not select {scenario.network.n_selected} users in"
            " every round, as the genie does"
        )
    rounds["regret"] = rounds["pseudo_regret"].cumsum()
    return rounds.loc[kept_rounds(n_rounds) - 1, ["round", "regret", "elapsed_s"]].reset_index(drop=True)


def compute(study: Regret, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Simulate every selector under every seed.

    Returns
    -------
    dict
        By ``SELECTOR/seed-SEED``, what `run` returns, with columns ``selector`` and ``seed`` in front.
    """
    tables = {}
    for selector, seed in product(study.scenario.selectors, study.seeds):
        note(f"{selector}, seed {seed}")
        table = run(study.scenario, selector, seed, study.n_rounds, study.reward_step)
        table.insert(0, "selector", selector)
        table.insert(1, "seed", seed)
        tables[f"{selector}/seed-{seed}"] = table
    return tables
