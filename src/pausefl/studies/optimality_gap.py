"""What annealing loses against the exact search: in the objective, in simulated time and in leakage.

Each selector has a simulation of its own. In every round the value that it reached is compared with the
optimum of the same objective (PAUSE v2, eq. 14), with the bandit index of its own history. In the start-up
rounds, while m users or more were never seen, both are infinite and every selector chooses exactly
(deviation D31).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.selectors.base import Selector
from pausefl.selectors.exact import Pause
from pausefl.selectors.search import Objective, Search
from pausefl.settings import Scenario
from pausefl.settings.studies import Runs
from pausefl.studies.simulate import selection_only
from pausefl.studies.tables import across_seeds

Users = NDArray[np.int64]

#: The selector that the others are compared with.
REFERENCE = "pause"

#: The optimum counts as found if the gap is no larger: far above rounding, far below what a user adds.
FOUND = 1e-9


class Recorded(Selector):
    """A search whose values and optima are recorded.

    Attributes
    ----------
    values
        (value reached, optimum) of each round so far.
    """

    def __init__(self, search: Search, exact: Pause) -> None:
        self.inner, self.exact = search, exact
        self.values: list[tuple[float, float]] = []

    def __call__(self, history: History, rng: np.random.Generator) -> Users:
        """Select by the search, with the same random draws as the unwrapped search."""
        selection, users = self.inner(history, rng), history.candidates()
        objective = Objective.of(history, self.inner.reward, self.inner.bound(history), users)
        value = optimum = objective.value(np.searchsorted(users, selection))
        if np.isfinite(value):
            ties = np.random.default_rng(0)  # all optima have the same value
            optimum = objective.value(self.exact.search(objective, history, users, ties))
        self.values.append((value, optimum))
        return selection

    def observe(self, feedback: Feedback, history: History) -> None:
        """Pass the feedback to the search."""
        self.inner.observe(feedback, history)


def run(scenario: Scenario, selector: str, seed: int, n_rounds: int) -> pd.DataFrame:
    """Simulate a scenario, and search every round exactly too.

    Returns
    -------
    pandas.DataFrame
        One row a round: ``round``; ``value`` reached, ``optimum`` (both infinite in the start-up rounds) and
        ``gap``, their difference (0 there); ``latency_s`` and ``elapsed_s`` in simulated seconds;
        ``leakage_max``, epsilon per coordinate.

    Raises
    ------
    PauseflError
        If the selector has no objective to search exactly.
    """
    simulation = selection_only(scenario, selector, seed)
    if not isinstance(simulation.select, Search):
        raise PauseflError(f"selector '{selector}' maximises nothing, so it has no gap to an optimum")
    simulation.select = recorded = Recorded(simulation.select, Pause.build(scenario))
    rounds = simulation.run(n_rounds).rounds
    rounds[["value", "optimum"]] = recorded.values
    started = np.isfinite(rounds["optimum"])
    rounds["gap"] = (rounds["optimum"] - rounds["value"]).where(started, 0.0)
    return rounds[["round", "value", "optimum", "gap", "latency_s", "elapsed_s", "leakage_max"]]


def compute(study: Runs, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Simulate every selector under every seed: ``gap``, rows of `run` with ``selector`` and ``seed``."""
    runs = {}
    for selector, seed in product(study.scenario.selectors, study.seeds):
        note(f"{selector}, seed {seed}")
        runs[selector, seed] = run(study.scenario, selector, seed, study.n_rounds)
    table = pd.concat(runs, names=["selector", "seed"]).reset_index(["selector", "seed"])
    return {"gap": table.reset_index(drop=True)}


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a selector: means and sample standard deviations over seeds.

    Parameters
    ----------
    runs
        Rows of `run` with ``selector`` and ``seed``.

    Returns
    -------
    pandas.DataFrame
        ``selector``, ``n_seeds`` and, each with ``_mean`` and ``_sd``: ``gap`` and ``found_share``, the mean
        gap after the start-up rounds and the share of these rounds in which the optimum was found;
        ``round_s``, mean simulated seconds of a round; ``elapsed_s`` and ``leakage_max`` at the end, and
        ``elapsed_ratio`` and ``leakage_ratio``, their ratios to those of `REFERENCE` under the same seed (NaN
        without it).
    """
    by_run = {key: _in_all(run) for key, run in runs.groupby(["selector", "seed"], sort=False)}
    table = pd.DataFrame.from_dict(by_run, orient="index").rename_axis(["selector", "seed"])
    reference = table[table.index.get_level_values("selector") == REFERENCE].droplevel("selector")
    for ratio, column in (("elapsed_ratio", "elapsed_s"), ("leakage_ratio", "leakage_max")):
        table[ratio] = table[column].div(reference[column], level="seed")
    return across_seeds(table)


def _in_all(run: pd.DataFrame) -> dict[str, float]:
    """The quantities of `summary` of one run."""
    later = run[np.isfinite(run["optimum"])]
    return {
        "gap": later["gap"].mean(),
        "found_share": (later["gap"] <= FOUND).mean(),
        "round_s": run["latency_s"].mean(),
        "elapsed_s": run["elapsed_s"].iloc[-1],
        "leakage_max": run["leakage_max"].iloc[-1],
    }
