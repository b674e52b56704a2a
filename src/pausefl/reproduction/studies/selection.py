"""The jobs of a scenario without training: who takes part, how long it takes and what it leaks.

The papers' figures of leakage, and their claims on leakage and on the time of a round, need no more.
"""

from __future__ import annotations

from itertools import product
from typing import Self

import pandas as pd
from pydantic import model_validator

from pausefl.analysis.figures.curves import leakage_bands, leakage_label, mark_budget, on_time_axis
from pausefl.analysis.figures.panels import Plotted, explain, new_panels, plot_bands
from pausefl.analysis.intervals import across_seeds
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.base import Note, SeededStudy, Tables
from pausefl.runs.run import joined, split_by_run, with_all_columns
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario


class Selection(SeededStudy):
    """The jobs of a scenario without training: leakage, and simulated time.

    Claims are tested on them where the table of experiments has no runs of the scenario. A file has at most
    one of each scenario.
    """

    label = "budget spent without training"
    repeats = ("leakage_vs_time", "leakage_vs_rounds")

    @property
    def simulates(self) -> str:
        """Name of the scenario whose jobs these are; empty if it is changed here."""
        return "" if self.changes else self.scenario.name

    @model_validator(mode="after")
    def _something_leaks(self) -> Self:
        private = [name for name in self.selectors if SELECTORS[name].private]
        if self.scenario.privacy is None or not private:
            raise ValueError("selectors: none of them has a budget, so there is nothing to show")
        return self

    def compute(self, note: Note) -> Tables:
        """Simulate every selector under every seed: ``rounds.parquet``, what `run` returns for each."""
        runs = []
        for selector, seed in product(self.scenario.selectors, self.seeds):
            note(f"{selector}, seed {seed}")
            runs.append(run(self.scenario, selector, seed))
        return {"rounds.parquet": pd.concat(runs, ignore_index=True)}

    def plot(self, tables: Tables) -> Plotted:
        """Largest leakage over users, on axes as other curves have; and ``summary.csv``."""
        table = tables["rounds.parquet"]
        rounds = split_by_run(table)
        limit, curves, labels = on_time_axis(leakage_bands(rounds, "elapsed_s"))
        figure, ((left, right),) = new_panels((1, 2), 2.6, sharey=True)
        plot_bands(left, leakage_bands(rounds, "round"), step=True)
        lines = plot_bands(right, curves, step=True)
        left.set(xlabel="Round", xlim=(0, table["round"].max()))
        right.set(xlabel="Simulated time (s)", xlim=(0, limit))
        left.set_ylabel(leakage_label(self.scenario), linespacing=0.9)
        mark_budget(left, self.scenario)
        mark_budget(right, self.scenario, words=False)
        explain(figure, lines, list(labels.values()), curves.values(), ncols=4)
        return Plotted(figure, {"summary.csv": summary(table)})


def run(scenario: Scenario, selector: str, seed: int) -> pd.DataFrame:
    """All rounds of a job, as `pausefl.runs.run.rounds_of` has an untrained run: what is learned is NaN."""
    simulation = selection_only(scenario, selector, seed)
    simulation.horizon = scenario.training.horizon
    rounds = simulation.run(scenario.training.n_rounds).rounds
    return joined([(RunId(scenario.name, selector, seed), with_all_columns(rounds))])


def summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """One row a selector: means and sample standard deviations over seeds.

    ``selector``, ``n_seeds`` and, each with ``_mean`` and ``_sd``: ``round_s``, mean simulated seconds of a
    round; ``elapsed_s``, those of all; ``leakage_max`` and ``leakage_mean`` over users, epsilon at the end
    (infinite without privacy).
    """
    seeds = rounds.groupby(["selector", "seed"], sort=False)
    runs = seeds[["elapsed_s", "leakage_max", "leakage_mean"]].last()
    runs.insert(0, "round_s", seeds["latency_s"].mean())
    return across_seeds(runs)
