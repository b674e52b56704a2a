"""How much a selector loses against the genie, and the law by which that grows (PAUSE v2, Theorem 3; BSFL).

The pseudo-regret of a round is C^G of the genie's choice less C^G of the selector's, both on the selector's
own history (PAUSE v2, eqs. 10, 15; BSFL, eqs. 6, 7; deviation D11). Regret is its sum over the rounds so far.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.errors import PauseflError
from pausefl.settings import Scenario
from pausefl.settings.studies import Runs
from pausefl.studies.simulate import selection_only

#: Rounds kept of a run, at most: 60 a decade in a run of 100,000.
N_KEPT = 301


def kept_rounds(n_rounds: int) -> NDArray[np.int64]:
    """At most `N_KEPT` rounds, the first and last among them, as evenly spaced in ln t as integers can be."""
    return np.unique(np.rint(np.geomspace(1, n_rounds, N_KEPT)).astype(np.int64))


def run(scenario: Scenario, selector: str, seed: int, n_rounds: int) -> pd.DataFrame:
    """Simulate a scenario beside the genie.

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
    rounds = selection_only(scenario, selector, seed, genie=True).run(n_rounds).rounds
    if rounds["pseudo_regret"].isna().any():
        raise PauseflError(
            f"selector '{selector}' has no regret: it does not select {scenario.network.n_selected} users in"
            " every round, as the genie does"
        )
    rounds["regret"] = rounds["pseudo_regret"].cumsum()
    return rounds.loc[kept_rounds(n_rounds) - 1, ["round", "regret", "elapsed_s"]].reset_index(drop=True)


def compute(study: Runs, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Simulate every selector under every seed.

    Returns
    -------
    dict
        By ``SELECTOR/seed-SEED``, what `run` returns, with columns ``selector`` and ``seed`` in front.
    """
    tables = {}
    for selector, seed in product(study.scenario.selectors, study.seeds):
        note(f"{selector}, seed {seed}")
        table = run(study.scenario, selector, seed, study.n_rounds)
        table.insert(0, "selector", selector)
        table.insert(1, "seed", seed)
        tables[f"{selector}/seed-{seed}"] = table
    return tables
