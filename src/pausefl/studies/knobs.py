"""What each constant of PAUSE buys: the same jobs with one setting changed at a time, without training.

Nothing that is measured here depends on what is learned, and streams depend on the seed alone. So a
difference between two values is an effect of the setting.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.bandit.latency import mean_latencies
from pausefl.errors import ConfigError
from pausefl.federated.untrained import selection_only
from pausefl.figures.panels import Plotted, new_panels
from pausefl.figures.style import look, marker
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.registry.selectors import in_legend_order, look_of
from pausefl.results.intervals import across_seeds
from pausefl.settings import Scenario
from pausefl.settings.base import Settings
from pausefl.settings.changes import with_values
from pausefl.settings.types import Distinct, Name, NonNegative, Several, Text
from pausefl.studies.base import ANNEALING, SimulatedStudy, Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

#: What is measured of a run.
METRICS = ("elapsed_s", "leakage_max", "leakage_mean", "fairness", "slow_share", "spread_s")

#: What tells runs apart, besides the seed.
KEY = ["knob", "value", "selector"]

#: What settings and variants are called.
NAMES = {
    "reward.alpha": "Weight of generalisation α",
    "reward.beta": "Exponent of generalisation β",
    "reward.gamma": "Weight of privacy γ",
    "reward.overlap_penalty": "Penalty of overlap ρ (R2)",
    "selection.exploitation": "Weight of speed ζ",
    "selection.temperature_divisor": "Temperature divisor κ",
    "selection.n_iterations": "Iterations of annealing J",
    "privacy.decay": "Decay of the budget η",
    "privacy.epsilon_total": "Budget of a user ε",
    "training.n_rounds": "Rounds of training",
    "variants": "Terms of the reward",
    "usual": "all",
    "no_p": "no privacy",
    "no_g": "no generalisation",
    "neither": "neither",
}

_HEADS = {
    "elapsed_s": "Simulated\ntime (s)",
    "leakage_max": "Largest\nleakage (ε)",
    "leakage_mean": "Mean\nleakage (ε)",
    "fairness": "Fairness of\nleakage (Jain)",
    "slow_share": "Slow users'\nshare of all",
    "spread_s": "Spread of\nlatency (s)",
}

#: What marks the value of the scenario.
USUAL: dict[str, Any] = {"color": "#D2D2D2", "linewidth": 5, "zorder": 0.5}


class Knob(Settings):
    """One setting, and the values that it gets, one at a time."""

    key: Text
    """Dotted key of the scenario, for example `reward.alpha`."""
    values: Distinct[NonNegative]
    """Values to try."""
    besides: dict[str, Any] = {}
    """Other dotted keys that change with it; the key's own value, if it is among them, is the usual one."""


class Knobs(SimulatedStudy):
    """What each constant buys in time, leakage and fairness, without training."""

    label = "what each constant buys, without training"
    data = ("knobs.parquet",)
    tables = ("summary.csv",)
    place = "Nowhere; PAUSE v2, V-A has the values"
    deviations = (*ANNEALING, "D8", "D25")

    knobs: Several[Knob] = ()
    """Settings that are changed one at a time."""
    variants: dict[Name, dict[str, Any]] = {}
    """Further changes by name: dotted keys and their values."""

    @property
    def n_variants(self) -> int:
        """Number of runs of a selector under one seed."""
        return 1 + len(self.changed)

    @cached_property
    def changed(self) -> dict[tuple[str, str], Scenario]:
        """The changed scenarios, by knob and value as text, or by ``variants`` and name."""
        found = {}
        for knob in self.knobs:
            for value in knob.values:
                values = knob.besides | {knob.key: value}
                found[knob.key, f"{value:g}"] = with_values(self.scenario, values, "knobs")
        for name, values in self.variants.items():
            found["variants", name] = with_values(self.scenario, values, f"variants.{name}")
        return found

    def usual(self, knob: Knob) -> float:
        """The value that a knob has in the scenario."""
        section, _, name = knob.key.partition(".")
        return float(knob.besides.get(knob.key, self.scenario.as_dict()[section][name]))

    @model_validator(mode="after")
    def _changes_are_valid(self) -> Self:
        try:
            self.changed  # noqa: B018 (reads every change)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self


WORDS = """
Time, leakage, fairness, slow users and spread of latency against one setting at a time. Grey: the value of
the scenario. Dots: means over seeds; bars: standard deviations.

*Setting.* {{ simulated }} {{ annealing }} {{ runs }}

*What is shown.* A row of panels has a setting, with its values at even distances; panels of a column share
their axis. Leakage is that at the end. Fairness is Jain's index of the users' leakage: 1 if all leak
equally. Slow users are the slower half; a fair share is one half. The spread of latency is the difference in
expected latency between the slowest and the fastest selected user, mean over rounds. ρ acts under reward R2,
whose overlaps take time. Terms: the reward without its privacy term, its generalisation term, and both.

*How to read it.* κ and J are of annealing alone, and random selection ignores all but η.
"""


def jain(values: Floats) -> float:
    """Jain's index of fairness of values (n,) >= 0: 1 if all are equal, 1/n if all but one are 0."""
    total = float(values.sum())
    return total**2 / (len(values) * float(values @ values)) if total else 1.0


def measure(scenario: Scenario, selector: str, seed: int) -> dict[str, float]:
    """The `METRICS` of a run.

    Simulated seconds of all rounds; the largest leakage, the mean and `jain`'s index of it over users
    (epsilon at the end; without privacy, the index of participations); the share of participations by the
    slower half of the users; and the mean over rounds of the difference in expected latency between the
    slowest and the fastest selected user, in seconds.
    """
    rounds = selection_only(scenario, selector, seed).run(scenario.training.n_rounds).rounds
    latency = mean_latencies(scenario.network)
    spreads = [np.ptp(latency[np.unique(users)]) for users in rounds["selection"]]
    last = rounds.iloc[-1]
    return {
        "elapsed_s": float(last["elapsed_s"]),
        "leakage_max": float(last["leakage_max"]),
        "leakage_mean": float(last["leakage_mean"]),
        **fairness_of(scenario, rounds["selection"]),
        "spread_s": float(np.mean(spreads)),
    }


def fairness_of(scenario: Scenario, selections: Iterable[NDArray[np.int64]]) -> dict[str, float]:
    """``fairness`` and ``slow_share``, as `measure` has them, of the selections (n,) of some rounds.

    1 and NaN if nobody took part.
    """
    network = scenario.network
    counts = np.zeros(network.n_users, np.int64)
    for users in selections:
        counts[np.unique(users)] += 1
    spent = counts if scenario.privacy is None else make_schedule(scenario.privacy).spent(counts)
    total = counts.sum()
    return {
        "fairness": jain(spent.astype(np.float64)),
        "slow_share": float(counts[network.n_users // 2 :].sum() / total) if total else math.nan,
    }


def compute(study: Knobs, note: Callable[[str], None]) -> dict[str, pd.DataFrame]:
    """Run every selector under every seed with every change.

    ``knobs``, one row a run: ``knob``, ``value`` (text; the name of a variant), ``selector``, ``seed`` and
    the `METRICS`. The scenario as it is has knob and value ``usual``.
    """
    known: dict[str, dict[str, float]] = {}
    rows = []
    for (knob, value), scenario in {("usual", "usual"): study.scenario, **study.changed}.items():
        note(f"{knob}: {value}")
        for selector, seed in product(study.scenario.selectors, study.seeds):
            same = _decisive(scenario, selector, seed)
            if same not in known:
                known[same] = measure(scenario, selector, seed)
            rows.append({"knob": knob, "value": value, "selector": selector, "seed": seed} | known[same])
    return {"knobs": pd.DataFrame(rows)}


def _decisive(scenario: Scenario, selector: str, seed: int) -> str:
    """A text that is equal for runs that are sure to be the same."""
    settings: dict[str, Any] = scenario.job_settings()
    if "selection.n_iterations" not in SELECTORS[selector].requires:
        settings["selection"] |= {"n_iterations": None, "temperature_divisor": None}
    return json.dumps([settings, selector, seed], sort_keys=True)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Means and sample standard deviations over seeds, by knob, value and selector.

    ``knob``, ``value``, ``selector``, ``n_seeds``, and each of the `METRICS` with ``_mean`` and ``_sd``.
    """
    return across_seeds(runs.set_index([*KEY, "seed"])[list(METRICS)])


def plot(tables: Tables, study: Knobs) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.knobs.compute`."""
    table = summary(tables["knobs"])
    usual = {knob.key: f"{study.usual(knob):g}" for knob in study.knobs}
    return Plotted(plot_knobs(table, usual), {"summary": table})


def plot_knobs(table: pd.DataFrame, usual: Mapping[str, str]) -> Figure:
    """Small panels: measures against the values of each setting.

    ``usual`` has the value of each setting in the scenario, as text.
    """
    base, changed = table[table["knob"] == "usual"], table[table["knob"] != "usual"]
    knobs, selectors = changed["knob"].unique(), in_legend_order(table["selector"])
    height = 1.05 + 0.72 * len(knobs)
    figure, grid = new_panels((len(knobs), len(METRICS)), height, sharey="col")
    for row, knob in enumerate(knobs):
        own = changed[changed["knob"] == knob]
        if knob == "variants":
            own = pd.concat([base, own])
        values = list(own["value"].unique())
        of_selectors = [own[own["selector"] == name] for name in selectors]
        for axes, metric in zip(grid[row], METRICS, strict=True):
            marked = usual.get(knob, "usual")
            if marked in values:
                axes.axvline(values.index(marked), **USUAL)
            lines = [_plot_line(axes, one, metric) for one in of_selectors]
            names = [NAMES.get(value, value.replace("_", " ").removeprefix("0") or "0") for value in values]
            shown = [name if knob == "variants" or i % 2 == 0 else "" for i, name in enumerate(names)]
            slant = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if knob == "variants" else {}
            axes.set_xticks(range(len(values)), shown, **slant)
            axes.tick_params(labelsize=6.5, pad=1)
            axes.set_xlim(-0.5, len(values) - 0.5)
            axes.margins(y=0.12)
            if row == 0:
                axes.set_title(_HEADS[metric], weight="normal", size="small", linespacing=1.0)
        words = textwrap.fill(NAMES.get(knob, knob), 14)
        grid[row, 0].set_ylabel(words, rotation=0, ha="right", va="center", linespacing=1)
    labels = [*(look_of(name).label for name in selectors), "Value of the scenario"]
    figure.legend(
        [*lines, axes.axvline(np.nan, **USUAL)], labels, loc="outside lower center", ncols=len(labels)
    )
    return figure


def _plot_line(axes: Axes, own: pd.DataFrame, metric: str) -> Line2D:
    """Means and standard deviations of one selector, at evenly spaced places in the order of the values."""
    mean, deviation = (own[f"{metric}_{kind}"].to_numpy(np.float64) for kind in ("mean", "sd"))
    style: dict[str, Any] = look(name := own["selector"].iloc[0]) | marker(name)
    style |= {"linewidth": 0.9, "markersize": 2.6, "elinewidth": 0.6}
    return axes.errorbar(np.arange(len(mean)), mean, yerr=np.nan_to_num(deviation), **style).lines[0]
