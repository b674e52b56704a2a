"""How long rounds last before and after fast and slow users swap, with means that forget and without."""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import pandas as pd
from pydantic import model_validator

from pausefl.analysis.figures.panels import NOTE, Plotted, bands_of, explain, new_panels, plot_bands
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.base import Note, SeededStudy, Tables
from pausefl.schema.types import Distinct, NonNegative
from pausefl.selectors import in_legend_order, look_of
from pausefl.settings.dotted_keys import with_values

#: Rounds of the trailing means in the figure.
SMOOTHED = 25

#: Thirds of the run, and what tables call them.
SPANS = {"before": "Before", "after": "The third after", "last": "The last third"}


class Drift(SeededStudy):
    """How long rounds last when fast and slow users swap, with means of latency that forget and without."""

    label = "rounds before and after speeds change"

    forgetting: Distinct[NonNegative]
    """Values of `selection.forgetting`, a panel for each."""

    @model_validator(mode="after")
    def _speeds_change(self) -> Self:
        network, after = self.scenario.network, self.length // 3 + 1
        if network.latency != "drift" or network.swap_round != after:
            raise ValueError(
                f"changes: needs network.latency 'drift' with network.swap_round {after}, after a third of"
                f" the {self.length} rounds"
            )
        return self

    @property
    def n_variants(self) -> int:
        """Number of runs of a selector under one seed."""
        return len(self.forgetting)

    def compute(self, note: Note) -> Tables:
        """Simulate every selector under every seed.

        ``rounds.parquet``, one row a round: ``selector``, ``forgetting``, ``seed``, ``round`` and
        ``latency_s``, simulated seconds.
        """
        runs = []
        for selector, forgetting, seed in product(self.scenario.selectors, self.forgetting, self.seeds):
            note(f"{selector}, forgetting {forgetting:g}, seed {seed}")
            scenario = with_values(self.scenario, {"selection.forgetting": forgetting}, "forgetting")
            rounds = selection_only(scenario, selector, seed).run(self.length).rounds
            key: dict[str, Any] = {"selector": selector, "forgetting": forgetting, "seed": seed}
            runs.append(rounds[["round", "latency_s"]].assign(**key)[[*key, "round", "latency_s"]])
        return {"rounds.parquet": pd.concat(runs, ignore_index=True)}

    def plot(self, tables: Tables) -> Plotted:
        """Trailing means of the rounds' time, and ``summary.csv``, what `summary` returns."""
        rounds = tables["rounds.parquet"]
        runs = rounds.groupby(["selector", "forgetting", "seed"])["latency_s"]
        smooth = rounds.assign(mean_s=runs.transform(lambda one: one.rolling(SMOOTHED, 1).mean()))
        figure, (panels,) = new_panels((1, len(self.forgetting)), 2.9, sharey=True)
        for axes, value in zip(panels, self.forgetting, strict=True):
            curves = bands_of(smooth[smooth["forgetting"] == value], "mean_s")
            lines = plot_bands(axes, curves)
            swap = self.length // 3 + 0.5
            axes.axvline(swap, color="black", linewidth=0.8, zorder=1)
            axes.annotate("speeds swap", (swap, 1), (3, -3), ("data", "axes fraction"), va="top", **NOTE)
            axes.set_title(f"Means that forget, {value:g}" if value else "Plain means", weight="normal")
            axes.set(xlabel="Round", xlim=(0, self.length), ylim=(0, None))
        panels[0].set_ylabel(f"Mean of {SMOOTHED} rounds (s)")
        labels = [look_of(name).label for name in in_legend_order(self.selectors)]
        explain(figure, lines, labels, curves.values(), ncols=6)
        return Plotted(figure, {"summary.csv": summary(rounds)})


def summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """Seconds of a round in each of the `SPANS`: before the swap, in the third after it, and in the last.

    One row a selector and value of forgetting, in the order of ``rounds``: ``selector``, ``forgetting``, and
    of each span the mean over seeds of the mean round, under its name, with ``_min`` and ``_max``.
    """
    third = (rounds["round"] - 1) * len(SPANS) // rounds["round"].max()
    found: dict[str, pd.Series] = {}
    for i, span in enumerate(SPANS):
        runs = rounds[third == i].groupby(["selector", "forgetting", "seed"], sort=False)["latency_s"].mean()
        over_seeds = runs.groupby(["selector", "forgetting"], sort=False)
        found |= {span: over_seeds.mean(), f"{span}_min": over_seeds.min(), f"{span}_max": over_seeds.max()}
    return pd.DataFrame(found).reset_index()
