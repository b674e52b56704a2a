"""The generalisation reward of one user against its share of the rounds (PAUSE v2, Fig. 1; BSFL, Fig. 2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from pausefl.bandit.history import History
from pausefl.bandit.rewards import generalization
from pausefl.settings.studies import Generalization


def run(study: Generalization) -> pd.DataFrame:
    """Evaluate g as the searches do, on histories in which a user took part in 0, 1, ... t of t rounds.

    Returns
    -------
    pandas.DataFrame
        One row for each beta and number of rounds: ``beta``, ``participation`` T / t in [0, 1] and ``reward``
        g in [-1, 1]. All K users hold equally much data, so g is 0 at a share of m / K.
    """
    history = History.empty(np.ones(study.n_users, np.int64), study.n_selected, latency_floor=1.0)
    history.round = study.n_rounds
    rows = []
    for beta in study.betas:
        for taken in range(study.n_rounds + 1):
            history.participations[0] = taken
            reward = float(generalization(history, beta, history.data_size)[0])
            rows.append({"beta": beta, "participation": taken / study.n_rounds, "reward": reward})
    return pd.DataFrame(rows)


def compute(study: Generalization, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Table ``generalization``, as `run` returns it."""
    return {"generalization": run(study)}
