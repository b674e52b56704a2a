"""What annealing loses against the exact search (PAUSE v2, eq. 14): in objective, simulated time and leakage.

In the start-up rounds, while m users or more were never seen, value and optimum are both infinite and every
selector chooses exactly (deviation D31).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.bandit.history import Feedback, History
from pausefl.errors import PauseflError
from pausefl.federated.untrained import selection_only
from pausefl.figures.curves import LOG_SPAN
from pausefl.figures.panels import Plotted, bands_of, explain, new_panels, plot_bands
from pausefl.registry.selectors import look_of
from pausefl.results.intervals import across_seeds
from pausefl.results.outcomes import moving_average
from pausefl.selectors.base import Selector
from pausefl.selectors.search import Objective, Search
from pausefl.settings import Scenario
from pausefl.studies.base import ANNEALING, Rounds, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pausefl.selectors.exact import Pause

Users = NDArray[np.int64]

#: The selector that the others are compared with.
REFERENCE = "pause"

#: The optimum counts as found if the gap is no larger: far above rounding, far below what a user adds.
FOUND = 1e-9


class OptimalityGap(Rounds):
    """What annealing loses against the exact search, in objective and in simulated time."""

    label = "what annealing loses against the exact search"
    data = ("gap.parquet",)
    tables = ("summary.csv",)
    place = "Nowhere: PAUSE v2 leaves out the exact search in large networks (D36)"
    deviations = (*ANNEALING, "D8", "D31", "D36")


WORDS = """
Left: the optimum of each round less the value of the selector's choice, trailing mean over 10 rounds. Right:
simulated time. {{ lines }}

*Setting.* {{ simulated }} {{ annealing }} {{ runs }}

*What is shown.* The optimum is that of the exact search on the selector's own history, so gaps of different
selectors are to different optima. The first rounds, while at least {{ study.scenario.network.n_selected }}
users were never seen, are left out: every selector is exact in them. The axis is logarithmic where mean gaps
span more than a factor of 8. A round costs the latency of its slowest participant. `summary.csv` has mean
gaps, the share of rounds in which the optimum was found, simulated time and the largest leakage at the end;
the last two also relative to PAUSE under the same seed.
"""


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

    One row a round: ``round``; ``value`` reached, ``optimum`` (both infinite in the start-up rounds) and
    ``gap``, their difference (0 there); ``latency_s`` and ``elapsed_s`` in simulated seconds;
    ``leakage_max``, epsilon per coordinate.

    `PauseflError` if the selector has no objective to search exactly.
    """
    from pausefl.selectors.exact import Pause

    simulation = selection_only(scenario, selector, seed)
    if not isinstance(simulation.select, Search):
        raise PauseflError(f"selector '{selector}' maximises nothing, so it has no gap to an optimum")
    simulation.select = recorded = Recorded(simulation.select, Pause.build(scenario))
    rounds = simulation.run(n_rounds).rounds
    rounds[["value", "optimum"]] = recorded.values
    started = np.isfinite(rounds["optimum"])
    rounds["gap"] = (rounds["optimum"] - rounds["value"]).where(started, 0.0)
    return rounds[["round", "value", "optimum", "gap", "latency_s", "elapsed_s", "leakage_max"]]


def compute(study: OptimalityGap, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Simulate every selector under every seed: ``gap``, rows of `run` with ``selector`` and ``seed``."""
    runs = {}
    for selector, seed in product(study.scenario.selectors, study.seeds):
        note(f"{selector}, seed {seed}")
        runs[selector, seed] = run(study.scenario, selector, seed, study.n_rounds)
    table = pd.concat(runs, names=["selector", "seed"]).reset_index(["selector", "seed"])
    return {"gap": table.reset_index(drop=True)}


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """One row a selector: means and sample standard deviations over seeds.

    ``selector``, ``n_seeds`` and, each with ``_mean`` and ``_sd``: ``gap`` and ``found_share``, the mean gap
    after the start-up rounds and the share of these rounds in which the optimum was found; ``round_s``, mean
    simulated seconds of a round; ``elapsed_s`` and ``leakage_max`` at the end, and ``elapsed_ratio`` and
    ``leakage_ratio``, their ratios to those of `REFERENCE` under the same seed (NaN without it).
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


def plot(tables: Tables, study: OptimalityGap) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.optimality_gap.compute`."""
    runs = tables["gap"]
    return Plotted(plot_gaps(runs), {"summary": summary(runs)})


def plot_gaps(runs: pd.DataFrame) -> Figure:
    """Gap after the start-up rounds, trailing mean over 10 rounds, and simulated time.

    Selectors without a gap are on the right alone. The axis of the gaps is logarithmic where means span more
    than `LOG_SPAN`, as that of losses is.
    """
    later = runs[np.isfinite(runs["optimum"])]
    smooth = later.groupby(["selector", "seed"])["gap"].transform(lambda gap: moving_average(gap.to_numpy()))
    bands = bands_of(later.assign(gap=smooth), "gap")
    gaps = {selector: curve for selector, curve in bands.items() if curve.high.max() > FOUND}
    elapsed = bands_of(runs, "elapsed_s")
    labels = [look_of(name).label + ("" if name in gaps else " (no gap)") for name in elapsed]
    figure, ((left, right),) = new_panels((1, 2), 2.6)
    left.set(xlabel="Round", ylabel="Gap to the optimum, in the objective")
    right.set(xlabel="Round", ylabel="Simulated time (s)")
    plot_bands(left, gaps)
    lines = plot_bands(right, elapsed)
    means = np.concatenate([curve.mean for curve in gaps.values()] or [np.ones(1)])
    if means.max() > LOG_SPAN * means.min():
        left.set_yscale("log")
    else:
        left.set_ylim(bottom=0)
    left.set_xlim(right.get_xlim())
    right.set_ylim(bottom=0)
    explain(figure, lines, labels, elapsed.values(), ncols=5)
    return figure
