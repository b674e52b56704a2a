"""What each constant of PAUSE buys: the same jobs with one setting changed at a time, without training.

Nothing that is measured here depends on what is learned, and streams depend on the seed alone. So a
difference between two values is an effect of the setting.
"""

from __future__ import annotations

import json
import math
import re
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
from pausefl.privacy import make_schedule
from pausefl.registry import SELECTORS
from pausefl.registry.selectors import in_legend_order, look_of
from pausefl.results import markdown
from pausefl.results.intervals import across_seeds, estimate
from pausefl.settings import Scenario
from pausefl.settings.base import Settings
from pausefl.settings.changes import with_values
from pausefl.settings.types import Distinct, Name, NonNegative, Several, Text
from pausefl.studies.base import ANNEALING, SimulatedStudy, Tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

#: What the figure calls each measure, and how it writes that of the scenario.
_HEADS = {
    "elapsed_s": ("Simulated\ntime", "{:.0f} s"),
    "leakage_max": ("Largest\nleakage", "ε {:.1f}"),
    "leakage_mean": ("Mean\nleakage", "ε {:.1f}"),
    "fairness": ("Jain's\nindex", "{:.2f}"),
    "slow_share": ("Slow\nusers", "{:.0f} %"),
    "spread_s": ("Latency\nspread", "{:.2f} s"),
}

#: Colours of what is halved, stays and is doubled.
_COLORS = ("#6BAED6", "#FFFFFF", "#FDAE6B")

#: Numbers in the cells of the map.
_CELL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}

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
What one setting at a time changes, in per cent of the scenario's mean over seeds: a row is a setting's least
or largest value, a column a measure. Blue is less, orange more.

*Setting.* {{ simulated }} {{ annealing }} {{ runs }}

*What is shown.* The first row has the scenario's own means. Grey: rounded 0, or the 95 % interval of the
differences under the same seeds has 0. `summary.csv` has the values in between, and selectors that ignore the
reward. Leakage is that at the end. Jain's index is that of the users' leakage: 1 if all leak equally. Slow
users are the slower half; a fair share is one half. The spread of latency is the difference in expected
latency between the slowest and the fastest selected user, mean over rounds. ρ acts under reward R2, whose
overlaps take time; its changes are from R2 with the usual ρ. Terms: the reward without its privacy term, its
generalisation term, and both.

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


def changes(runs: pd.DataFrame, usual: Mapping[str, str]) -> pd.DataFrame:
    """What the ends of each setting's values, and each variant, change, in per cent of the mean.

    ``usual`` has the value of each setting in the scenario, as text. Where a setting has runs of that value,
    as one with other keys ``besides`` does, changes are from these.

    One row for each ``knob``, ``value``, ``selector`` and ``metric``: ``base``, the value that it changes
    from; ``change``, with ``low`` and ``high`` of its interval over seeds (NaN with one seed).
    """
    by_run = runs.set_index(["selector", "seed"]).sort_index().groupby(["knob", "value"])[list(METRICS)]
    measured = dict(iter(by_run))
    rows = []
    for knob, own in runs[runs["knob"] != "usual"].groupby("knob", sort=False):
        values, base = list(own["value"].unique()), usual.get(str(knob), "")
        start = (knob, base) if base in values else ("usual", "usual")
        others = [value for value in values if value != base]
        if knob != "variants":  # the first and the last
            others = sorted(others, key=float)[:: max(len(others) - 1, 1)]
        for value in others:
            differences = measured[knob, value] - measured[start]
            for selector, metric in product(own["selector"].unique(), METRICS):
                mean = measured[start].loc[selector, metric].mean()
                with np.errstate(divide="ignore", invalid="ignore"):
                    change = 100 * np.array(estimate(differences.loc[selector, metric])) / mean
                rows.append((knob, value, selector, base, metric, *change))
    return pd.DataFrame(rows, columns=[*KEY, "base", "metric", "change", "low", "high"])


def plot(tables: Tables, study: Knobs) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.knobs.compute`."""
    runs, usual = tables["knobs"], {knob.key: f"{study.usual(knob):g}" for knob in study.knobs}
    return Plotted(plot_knobs(runs, usual), {"summary": summary(runs)})


def plot_knobs(runs: pd.DataFrame, usual: Mapping[str, str]) -> Figure:
    """Maps of the `changes`: a row a value, a column a measure, a panel a selector that looks at the reward.

    ``usual`` is as there. The first row has the means of the scenario as it is. Grey numbers are 0, or have
    intervals with 0.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    table, names = changes(runs, usual), in_legend_order(runs["selector"])
    selectors = [name for name in names if SELECTORS[name].uses_reward] or names
    means = runs[runs["knob"] == "usual"].groupby("selector")[list(METRICS)].mean()
    means["slow_share"] *= 100
    labels, starts = ["The scenario as it is"], []
    for knob in table["knob"].unique():
        starts.append(len(labels))
        for value in table.loc[table["knob"] == knob, "value"].unique():
            words = NAMES.get(value, value.replace("_", " ")) if knob == "variants" else f"→ {value}"
            first = f"{NAMES.get(knob, knob)}: {usual.get(knob, '')}".rstrip()
            labels.append(f"{first} {words}" if len(labels) == starts[-1] else words)
    figure, (panels,) = new_panels((1, len(selectors)), 0.85 + 0.16 * len(labels), sharey=True)
    colors = LinearSegmentedColormap.from_list("change", _COLORS)
    for axes, name in zip(panels, selectors, strict=True):
        own = table[table["selector"] == name]
        change, low, high = (
            own[part].to_numpy(np.float64).reshape(-1, len(METRICS)) for part in ("change", "low", "high")
        )
        doublings = np.log2(np.maximum(1 + change / 100, 0.5))
        shown = np.vstack([np.zeros(len(METRICS)), np.nan_to_num(doublings)])
        axes.imshow(shown, cmap=colors, vmin=-1, vmax=1, aspect="auto")
        for x, (metric, (_, form)) in enumerate(_HEADS.items()):
            axes.text(x, 0, form.format(means.loc[name, metric]), **_CELL)
            for y in range(len(change)):
                words = re.sub("^.0$", "0", markdown.number(change[y, x], "+.0f")).replace("inf", "∞")
                grey = words == "0" or low[y, x] <= 0 <= high[y, x]
                axes.text(x, y + 1, words, color="#888888" if grey else "black", **_CELL)
        for y in starts:
            axes.axhline(y - 0.5, color="black", linewidth=0.4)
        axes.set_title(look_of(name).label, pad=4)
        axes.xaxis.tick_top()
        heads = [head for head, _ in _HEADS.values()]
        axes.set_xticks(range(len(heads)), heads, fontsize=7, linespacing=0.9, va="baseline")
        axes.tick_params(length=0)
        axes.grid(visible=False)
    panels[0].set_yticks(range(len(labels)), labels, fontsize=7)
    handles: list[Patch | Line2D] = [
        Patch(facecolor=_COLORS[0], label="Halved, or less"),
        Patch(facecolor=_COLORS[-1], label="Doubled, or more"),
        Line2D([], [], linestyle="", label="Numbers: change in %; grey: its 95 % interval has 0"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure
