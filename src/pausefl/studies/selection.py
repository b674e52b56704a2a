"""The jobs of a scenario without training: who takes part, how long it takes and what it leaks.

None of it depends on what is learned, unless a selector looks at the users' updates. So the papers' figures
of leakage, and their claims on leakage and on the time of a round, need no training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product

import pandas as pd

from pausefl.results import markdown
from pausefl.results.runs import as_collected
from pausefl.results.tables import mean_sd
from pausefl.settings import Experiment, Scenario
from pausefl.settings.studies import Selections
from pausefl.studies.simulate import selection_only
from pausefl.studies.tables import across_seeds

#: Quantities of a run in the table for people: their heads, and digits.
_COLUMNS = {
    "round_s": ("Mean round (s)", 3),
    "elapsed_s": ("All rounds (s)", 1),
    "leakage_max": ("Largest leakage (ε per {protected})", 2),
    "leakage_mean": ("Mean leakage", 2),
}


def run(scenario: Scenario, selector: str, seed: int) -> pd.DataFrame:
    """Simulate all rounds of a job.

    Returns
    -------
    pandas.DataFrame
        One row a round, as `pausefl.results.runs.collect` has an untrained run: selections, simulated
        seconds and leakage are those of the job; what is learned is NaN.
    """
    simulation = selection_only(scenario, selector, seed)
    simulation.horizon = scenario.training.horizon
    rounds = simulation.run(scenario.training.n_rounds).rounds
    return as_collected(rounds, Experiment(scenario.name, selector, seed))


def compute(study: Selections, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Simulate every selector under every seed: ``rounds``, what `run` returns for each."""
    runs = []
    for selector, seed in product(study.scenario.selectors, study.seeds):
        note(f"{selector}, seed {seed}")
        runs.append(run(study.scenario, selector, seed))
    return {"rounds": pd.concat(runs, ignore_index=True)}


def summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """One row a selector: means and sample standard deviations over seeds.

    Parameters
    ----------
    rounds
        Of all runs, as `run` returns them.

    Returns
    -------
    pandas.DataFrame
        ``selector``, ``n_seeds`` and, each with ``_mean`` and ``_sd``: ``round_s``, mean simulated seconds
        of a round; ``elapsed_s``, those of all; ``leakage_max`` and ``leakage_mean`` over users, epsilon at
        the end (infinite without privacy).
    """
    seeds = rounds.groupby(["selector", "seed"], sort=False)
    runs = seeds[["elapsed_s", "leakage_max", "leakage_mean"]].last()
    runs["round_s"] = seeds["latency_s"].mean()
    return across_seeds(runs[list(_COLUMNS)])


def to_markdown(table: pd.DataFrame, labels: Mapping[str, str], protected: str) -> str:
    """The `summary` as a Markdown table for people.

    Parameters
    ----------
    table
        As `summary` returns it.
    labels
        What to call each selector.
    protected
        What the epsilons are for: ``coordinate`` or ``update``.
    """
    columns = {column: (head.format(protected=protected), n) for column, (head, n) in _COLUMNS.items()}
    cells = [
        {"Selector": labels[row["selector"]]}
        | {head: mean_sd(row, column, digits) for column, (head, digits) in columns.items()}
        | {"Seeds": str(row["n_seeds"])}
        for _, row in table.iterrows()
    ]
    lines = markdown.of_records(cells, "l" + "r" * (len(_COLUMNS) + 1))
    note = "Mean ± standard deviation over seeds; seconds are simulated, leakage is that at the end."
    return f"{lines}\n{note}\n"
