"""What a change of one setting does: the jobs of a scenario with one setting changed at a time.

Streams depend on the seed alone, so a difference between two values is an effect of the setting. Without
training, what is measured is what does not depend on what is learned; with it, accuracy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import Strict, model_validator

from pausefl.analysis.figures.panels import Plotted, bands_of, explain, new_panels, plot_bands
from pausefl.analysis.figures.style import legend_key, look, marker
from pausefl.analysis.formats import number
from pausefl.analysis.intervals import across_seeds, estimate
from pausefl.analysis.outcomes import fairness_of, moving_average
from pausefl.errors import ConfigError
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.base import Note, Runs, SeededStudy, Tables
from pausefl.runs.collected import read_runs
from pausefl.runs.run import rounds_of, runs_of
from pausefl.runs.run_id import RunId
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, Name, NonNegative, Several, Text
from pausefl.selectors import LABELS, SELECTORS, in_legend_order, look_of
from pausefl.selectors.look import DASH, DASH_DOT, DOT, LONG_DASH
from pausefl.settings import Scenario
from pausefl.settings.dotted_keys import with_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: What is measured without training: what the figure calls it, with an arrow to what is better, and how it
#: writes that of the scenario.
METRICS = {
    "elapsed_s": ("Simulated\ntime ↓", "{:.0f} s"),
    "leakage_max": ("Largest\nbudget\nspent ↓", "ε {:.1f}"),
    "leakage_mean": ("Mean\nbudget\nspent ↓", "ε {:.1f}"),
    "fairness": ("Jain's\nindex ↑", "{:.2f}"),
    "slow_share": ("Slow\nusers", "{:.0f} %"),
    "spread_s": ("Latency\nspread ↓", "{:.2f} s"),
}

#: What tells runs apart, besides the seed.
KEY = ["knob", "value", "selector"]

#: The scenario as it is, as knob and value; and what stands for a knob of variants.
USUAL, VARIANTS = ("usual", "usual"), "variants"

#: Accuracy is kept of every so many rounds, and the last; so many points of time are compared.
STEP, N_TIMES = 10, 400

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
    VARIANTS: "Terms of the reward",
    "no_p": "no privacy",
    "no_g": "no generalisation",
    "neither": "neither",
}

#: The setting whose largest value has a panel of its own.
_ROUNDS = "training.n_rounds"

#: Colours of what is halved, stays and is doubled; numbers in cells; the value of the scenario; variants.
_COLORS = ("#6BAED6", "#FFFFFF", "#FDAE6B")
_CELL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7}
_USUAL: dict[str, Any] = {"color": "#D2D2D2", "linewidth": 5, "zorder": 0.5}
_DASHES = (DASH, DOT, DASH_DOT, LONG_DASH)
_VARIANT_COLORS = ("#B22222", "#6A4C93", "#1B7F5C")


class Knob(Settings):
    """One setting, and the values that it gets, one at a time."""

    key: Text
    """Dotted key of the scenario, for example `reward.alpha`."""
    values: Distinct[NonNegative]
    """Values to try."""
    besides: dict[str, Any] = {}
    """Other dotted keys that change with it; the key's own value, if it is among them, is the usual one."""


class Changes(SeededStudy):
    """What a change of one setting does to time, leakage and fairness; or, with training, to accuracy."""

    label = "what a change of one setting does"

    knobs: Several[Knob] = ()
    """Settings that are changed one at a time."""
    variants: dict[Name, dict[str, Any]] = {}
    """Further changes by name: dotted keys and their values."""
    train: Annotated[bool, Strict()] = False
    """Whether the jobs of all changed scenarios run, and their accuracy is compared."""

    @cached_property
    def scenarios(self) -> dict[tuple[str, str], Scenario]:
        """The scenario as it is, as `USUAL`, and the changed ones.

        By knob and value as text, or by `VARIANTS` and name. If they train, they have names of their own.
        """
        found = {USUAL: self.scenario}
        for knob in self.knobs:
            for value in knob.values:
                scenario = with_values(self.scenario, knob.besides | {knob.key: value}, "knobs")
                short = f"{knob.key.rpartition('.')[2]}_{value:g}".replace(".", "_")
                found[knob.key, f"{value:g}"] = self._named(scenario, short, f"{knob.key} = {value:g}")
        for name, keys in self.variants.items():
            scenario = with_values(self.scenario, keys, f"variants.{name}")
            found[VARIANTS, name] = self._named(scenario, name, name)
        return found

    def _named(self, scenario: Scenario, short: str, words: str) -> Scenario:
        """A changed scenario under the name that its jobs have."""
        if not self.train:
            return scenario
        own = {"name": f"{self.scenario.name}_{short}", "title": f"{self.scenario.title}; {words}"}
        return scenario.replace(**own, figures={})

    @model_validator(mode="after")
    def _changes_are_valid(self) -> Self:
        try:
            self.scenarios  # noqa: B018 (reads every change)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self

    @property
    def trained(self) -> bool:
        """Whether it collects `runs`."""
        return self.train

    @cached_property
    def runs(self) -> list[Runs]:
        """Jobs in the scenario as it is, and in the changed ones; without those that no change concerns."""
        found = []
        for place, scenario in self.scenarios.items() if self.train else ():
            of_selection = all(key.startswith(("reward.", "selection.")) for key in scenario.changed)
            everyone = place == USUAL or not of_selection
            names = [name for name in self.selectors if everyone or SELECTORS[name].uses_reward]
            found.append((scenario, list(product(names, self.seeds))))
        return found

    @property
    def n_variants(self) -> int:
        """Number of runs of a selector under one seed."""
        return len(self.scenarios)

    def usual(self, knob: Knob) -> float:
        """The value that a knob has in the scenario."""
        section, _, name = knob.key.partition(".")
        return float(knob.besides.get(knob.key, self.scenario.as_dict()[section].get(name)))

    def compute(self, note: Note, folders: Mapping[RunId, Path] | None = None) -> Tables:
        """Run every selector under every seed with every change, or collect these runs from ``folders``.

        Tables have the columns ``knob``, ``value`` (text; the name of a variant), ``selector`` and ``seed``.
        ``knobs.parquet`` has one row a run, and the `METRICS`. Of trained runs, ``curves.parquet`` has one
        row for every `STEP` rounds, and for the last: ``round``, ``elapsed_s``, ``accuracy`` (trailing mean)
        and ``leakage_max``.
        """
        if self.train:
            return {"curves.parquet": pd.concat(self._curves(note, folders or {}), ignore_index=True)}
        rows = []
        for (knob, value), scenario in self.scenarios.items():
            note(f"{knob}: {value}")
            for selector, seed in product(self.scenario.selectors, self.seeds):
                key = {"knob": knob, "value": value, "selector": selector, "seed": seed}
                rows.append(key | measure(scenario, selector, seed))
        return {"knobs.parquet": pd.DataFrame(rows)}

    def _curves(self, note: Note, folders: Mapping[RunId, Path]) -> Iterator[pd.DataFrame]:
        """Yield the curve of each run."""
        for (knob, value), (scenario, runs) in zip(self.scenarios, self.runs, strict=True):
            note(f"{knob}: {value}")
            rows = [RunId(scenario.name, *run) for run in runs]
            rounds = rounds_of(read_runs({row: folders[row] for row in rows}).values())
            for selector, seed, run in runs_of(rounds):
                run = run.assign(accuracy=moving_average(run["accuracy"].to_numpy(np.float64)))
                kept = run[(run["round"] % STEP == 0) | (run["round"] == run["round"].max())]
                frame = kept[["round", "elapsed_s", "accuracy", "leakage_max"]].reset_index(drop=True)
                key = {"knob": knob, "value": value, "selector": selector, "seed": seed}
                yield pd.DataFrame(key, index=frame.index).join(frame)

    def plot(self, tables: Tables) -> Plotted:
        """What the figure for people shows, and ``summary.csv``.

        Without training a map of the `effects`, and means and standard deviations over seeds; else accuracy
        against rounds, settings and, of variants, time, and what `compare` returns.
        """
        usual = {knob.key: self.usual(knob) for knob in self.knobs}
        if self.train:
            curves = tables["curves.parquet"]
            summary = compare(curves)
            return Plotted(plot_accuracy(curves, summary, usual), {"summary.csv": summary})
        runs = tables["knobs.parquet"]
        summary = across_seeds(runs.set_index([*KEY, "seed"])[list(METRICS)])
        figure = plot_map(runs, {key: f"{value:g}" for key, value in usual.items()})
        return Plotted(figure, {"summary.csv": summary})


def measure(scenario: Scenario, selector: str, seed: int) -> dict[str, float]:
    """The `METRICS` of a run.

    Simulated seconds of all rounds; the largest and the mean leakage over users (epsilon at the end); what
    `fairness_of` returns; and the mean over rounds of the difference in expected latency between the slowest
    and the fastest selected user, in seconds.
    """
    rounds = selection_only(scenario, selector, seed).run(scenario.training.n_rounds).rounds
    latency = scenario.network.make_latency().means()
    spreads = [np.ptp(latency[np.unique(users)]) for users in rounds["selection"]]
    last = rounds.iloc[-1]
    return {
        **{name: float(last[name]) for name in ("elapsed_s", "leakage_max", "leakage_mean")},
        **fairness_of(scenario, rounds["selection"]),
        "spread_s": float(np.mean(spreads)),
    }


def effects(runs: pd.DataFrame, usual: Mapping[str, str]) -> pd.DataFrame:
    """What the ends of each setting's values, and each variant, change, in per cent of the mean.

    ``usual`` has the value of each setting in the scenario. Where there are runs of it, as of a setting with
    other keys ``besides``, changes are from these.

    One row for each ``knob``, ``value``, ``selector`` and ``metric``: ``change``, with ``low`` and ``high``
    of its interval over seeds (NaN with one seed).
    """
    by_run = runs.set_index(["selector", "seed"]).sort_index().groupby(["knob", "value"])[list(METRICS)]
    measured = dict(iter(by_run))
    rows = []
    for knob, own in runs[runs["knob"] != "usual"].groupby("knob", sort=False):
        values, base = list(own["value"].unique()), usual.get(str(knob), "")
        start = measured[(knob, base) if base in values else USUAL]
        others = [value for value in values if value != base]
        if knob != VARIANTS:  # the first and the last
            others = sorted(others, key=float)[:: max(len(others) - 1, 1)]
        for value, selector, metric in product(others, own["selector"].unique(), METRICS):
            before = start.loc[selector, metric]
            change = estimate(measured[knob, value].loc[selector, metric] - before)
            with np.errstate(divide="ignore", invalid="ignore"):
                rows.append((knob, value, selector, metric, *(100 * np.array(change) / before.mean())))
    return pd.DataFrame(rows, columns=[*KEY, "metric", "change", "low", "high"])


def compare(curves: pd.DataFrame) -> pd.DataFrame:
    """The first selector against the others, at equal simulated time.

    One row for each ``knob``, ``value`` and ``other`` selector: ``selector``, the first; ``n_seeds``;
    ``end_s``, the mean over seeds of the time at which the first of two runs ends; ``accuracy`` and
    ``accuracy_other``, mean accuracy at that time, each with ``_least`` and ``_most`` of a seed;
    ``difference`` of the two, and ``difference_over_time``, the mean difference from the first point of both
    curves to that time; each with ``_low`` and ``_high`` of its interval over seeds (NaN with one seed).
    Where the other has no runs, as such a change does not concern it, its usual ones count.
    """
    runs = dict(iter(curves.groupby([*KEY, "seed"], sort=False)))
    first, *others = curves["selector"].unique()
    rows = []
    for (knob, value), own in curves.groupby(["knob", "value"], sort=False):
        seeds = own["seed"].unique()
        for other in others:
            usual = {seed: runs[*USUAL, other, seed] for seed in seeds}
            pairs = [
                _pair(runs[knob, value, first, seed], runs.get((knob, value, other, seed), usual[seed]))
                for seed in seeds
            ]
            end, first_end, other_end, over_time = np.array(pairs).T
            row = {"knob": knob, "value": value, "selector": first, "other": other, "n_seeds": len(seeds)}
            row["end_s"] = end.mean()
            for name, values in (("accuracy", first_end), ("accuracy_other", other_end)):
                row |= {name: values.mean(), f"{name}_least": values.min(), f"{name}_most": values.max()}
            for name, values in (("difference", first_end - other_end), ("difference_over_time", over_time)):
                row |= dict(zip((name, f"{name}_low", f"{name}_high"), estimate(values), strict=True))
            rows.append(row)
    return pd.DataFrame(rows)


def _pair(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[float, float, float, float]:
    """End of the first of two runs, accuracy of both there, and their mean difference up to it."""
    start = max(run["elapsed_s"].iloc[0] for run in (ours, theirs))
    end = min(run["elapsed_s"].iloc[-1] for run in (ours, theirs))
    times = np.linspace(start, end, N_TIMES)
    first, second = (np.interp(times, run["elapsed_s"], run["accuracy"]) for run in (ours, theirs))
    over_time = float(np.trapezoid(first - second, times)) / (end - start)
    return float(end), float(first[-1]), float(second[-1]), over_time


def plot_map(runs: pd.DataFrame, usual: Mapping[str, str]) -> Figure:
    """Map of the `effects`: a row a value, a column a measure, a panel a selector that looks at the reward.

    The first row has the means of the scenario as it is. Grey numbers are 0, or have intervals with 0.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Patch

    table, names = effects(runs, usual), in_legend_order(runs["selector"])
    selectors = [name for name in names if SELECTORS[name].uses_reward] or names
    means = runs[runs["knob"] == "usual"].groupby("selector")[list(METRICS)].mean()
    means["slow_share"] *= 100
    labels, starts = ["The scenario as it is"], []
    for knob, own in table.groupby("knob", sort=False):
        starts.append(len(labels))
        values = [_called(value) if knob == VARIANTS else f"→ {value}" for value in own["value"].unique()]
        first = f"{_called(str(knob))}: {usual.get(str(knob), '')}".rstrip()
        labels += [f"{first} {values[0]}", *values[1:]]
    figure, (panels,) = new_panels((1, len(selectors)), 0.85 + 0.16 * len(labels), sharey=True)
    colors = LinearSegmentedColormap.from_list("change", _COLORS)
    for axes, name in zip(panels, selectors, strict=True):
        own = table[table["selector"] == name]
        change, low, high = own[["change", "low", "high"]].to_numpy().T.reshape(3, -1, len(METRICS))
        doublings = np.log2(np.maximum(1 + change / 100, 0.5))
        shown = np.vstack([np.zeros(len(METRICS)), np.nan_to_num(doublings)])
        axes.imshow(shown, cmap=colors, vmin=-1, vmax=1, aspect="auto")
        for x, (metric, (_, form)) in enumerate(METRICS.items()):
            axes.text(x, 0, form.format(means.loc[name, metric]), **_CELL)
            for y in range(len(change)):
                words = re.sub("^.0$", "0", number(change[y, x], "+.0f")).replace("inf", "∞")
                grey = words == "0" or low[y, x] <= 0 <= high[y, x]
                axes.text(x, y + 1, words, color="#888888" if grey else "black", **_CELL)
        for y in starts:
            axes.axhline(y - 0.5, color="black", linewidth=0.4)
        axes.set_title(look_of(name).label, pad=4)
        axes.xaxis.tick_top()
        heads = [head for head, _ in METRICS.values()]
        axes.set_xticks(range(len(heads)), heads, fontsize=7, linespacing=0.9, va="baseline")
        axes.tick_params(length=0)
        axes.grid(visible=False)
    panels[0].set_yticks(range(len(labels)), labels, fontsize=7)
    handles = [
        Patch(facecolor=_COLORS[0], label="Halved, or less"),
        Patch(facecolor=_COLORS[-1], label="Doubled, or more"),
        legend_key("Change in %; grey: its 95 % interval has 0; arrows: better", linestyle=""),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def plot_accuracy(curves: pd.DataFrame, summary: pd.DataFrame, usual: Mapping[str, float]) -> Figure:
    """Accuracy against time, against each setting, and what variants, if there are any, change of it in time.

    ``summary`` is that of `compare`; ``usual`` has the value of each setting in the scenario.
    """
    curves = curves.assign(percent=100 * curves["accuracy"])
    knobs, first = [knob for knob in usual if knob != _ROUNDS], curves["selector"].iloc[0]
    ours = curves[curves["selector"] == first]
    varied = bool((ours["knob"] == VARIANTS).any())
    n_panels = 1 + len(knobs) + varied
    n_rows = math.ceil(n_panels / 2)
    figure, grid = new_panels((n_rows, min(n_panels, 2)), 0.3 + 2.3 * n_rows)
    axes, *of_knobs = grid.flat[: 1 + len(knobs)]
    longest = curves.nlargest(1, "round").iloc[0]
    own = curves[(curves["knob"] == longest["knob"]) & (curves["value"] == longest["value"])]
    bands = bands_of(own, "percent", "elapsed_s")
    lines, labels = plot_bands(axes, bands), [look_of(name).label for name in bands]
    axes.set(xlabel="Simulated time (s)", xlim=(0, None), title=f"Accuracy in {own['round'].max():,} rounds")
    for axes, knob in zip(of_knobs, knobs, strict=True):
        _plot_knob(axes, summary[summary["knob"].isin([knob, "usual"])], usual[knob])
        axes.set(xlabel=_called(knob), title=f"Accuracy when {look_of(first).label} ends")
    if knobs:
        lines.append(of_knobs[0].axvline(np.nan, **_USUAL))
        labels.append("The scenario's value")
    for axes in (grid[0, 0], *of_knobs):
        axes.set(ylabel="Accuracy (%)", ylim=(0, 100))
    if varied:
        for line, variant in _plot_variants(grid.flat[n_panels - 1], ours):
            lines.append(line)
            labels.append(f"{LABELS[first]}, {_called(variant)} term")
    for rest in grid.flat[n_panels:]:
        rest.set_visible(False)
    explain(figure, lines, labels, bands.values(), ncols=3)
    return figure


def _plot_variants(axes: Axes, ours: pd.DataFrame) -> Iterator[tuple[Line2D, str]]:
    """What variants change of one selector's accuracy against time; yields each one's line and name."""
    name = ours["selector"].iloc[0]
    whole = bands_of(ours[ours["knob"] == "usual"], "percent", "elapsed_s")[name]
    of_variants = ours[ours["knob"] == VARIANTS].groupby("value", sort=False)
    for dashes, color, (variant, own) in zip(_DASHES, _VARIANT_COLORS, of_variants, strict=False):
        curve = bands_of(own, "percent", "elapsed_s")[name]
        shared = curve.x[(curve.x >= whole.x[0]) & (curve.x <= whole.x[-1])]
        change = np.interp(shared, curve.x, curve.mean) - np.interp(shared, whole.x, whole.mean)
        (line,) = axes.plot(shared, change, color=color, linestyle=dashes, linewidth=1.2)
        yield line, str(variant)
    axes.axhline(0, color=look_of(name).color, linewidth=0.8)
    axes.set(xlabel="Simulated time (s)", ylabel=f"Change from {LABELS[name]} (points)")
    axes.set_title("Without a term of the reward")


def _plot_knob(axes: Axes, own: pd.DataFrame, usual: float) -> None:
    """Accuracy of all selectors at equal time against the values of one setting, with the range of seeds."""
    own = own.assign(x=[usual if value == "usual" else float(value) for value in own["value"]])
    own = own.drop_duplicates(["x", "other"]).sort_values("x")
    axes.axvline(usual, **_USUAL)
    axes.set_xscale("log")
    axes.set_xticks(own["x"].unique(), [f"{x:g}" for x in own["x"].unique()])
    axes.minorticks_off()
    for other, compared in own.groupby("other", sort=False):
        for name, column in ((str(other), "accuracy_other"), (compared["selector"].iloc[0], "accuracy")):
            axes.plot(compared["x"], 100 * compared[column], **look(name), **marker(name))
            low, high = (100 * compared[f"{column}_{end}"] for end in ("least", "most"))
            axes.vlines(compared["x"], low, high, color=look_of(name).color, linewidth=0.8, alpha=0.7)


def _called(name: str) -> str:
    return NAMES.get(name, name.replace("_", " "))
