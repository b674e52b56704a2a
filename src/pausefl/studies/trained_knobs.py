"""What constants, budgets and terms of the reward buy in accuracy, from runs of changed scenarios."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.figures.panels import Plotted, bands_of, explain, new_panels, plot_bands
from pausefl.figures.style import look, marker
from pausefl.registry import SELECTORS
from pausefl.registry.selectors import DASH, DASH_DOT, DOT, LABELS, LONG_DASH, look_of
from pausefl.results.intervals import estimate
from pausefl.results.outcomes import moving_average
from pausefl.results.runs import collect
from pausefl.settings import Experiment, Scenario
from pausefl.studies.base import Tables
from pausefl.studies.knobs import NAMES, USUAL, Knobs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

#: Curves have every so many rounds, and the last.
STEP = 10

#: Points of time at which two curves are compared.
N_TIMES = 400

#: The knob whose largest value is shown against rounds.
_ROUNDS = "training.n_rounds"

#: Dashes of variants.
_DASHES = (DASH, DOT, DASH_DOT, LONG_DASH)


class TrainedKnobs(Knobs):
    """What constants, budgets and terms of the reward buy in accuracy: jobs of changed scenarios."""

    label = "what budgets, constants and terms of the reward buy in accuracy"
    data = ("curves.parquet",)
    trained = True
    place = "Nowhere"

    @cached_property
    def scenarios(self) -> dict[tuple[str, str], Scenario]:
        """The scenario as it is, as ``usual``, and the changed ones under names of their own."""
        found = {("usual", "usual"): self.scenario}
        for (knob, value), scenario in self.changed.items():
            short = value if knob == "variants" else f"{knob.rpartition('.')[2]}_{value.replace('.', '_')}"
            title = f"{scenario.title}; {value if knob == 'variants' else f'{knob} = {value}'}"
            found[knob, value] = scenario.replace(name=f"{scenario.name}_{short}", title=title, figures={})
        return found

    @property
    def job_scenarios(self) -> list[Scenario]:
        """The scenario as it is, and the changed ones."""
        return list(self.scenarios.values())

    @cached_property
    def runs(self) -> dict[str, list[tuple[str, int]]]:
        """Selectors and seeds by the name of the scenario, without runs that no change concerns."""
        found = {}
        for (knob, _), scenario in self.scenarios.items():
            everyone = knob == "usual" or not all(
                key.startswith(("reward.", "selection.")) for key in scenario.changed
            )
            names = [name for name in self.selectors if everyone or SELECTORS[name].uses_reward]
            found[scenario.name] = list(product(names, self.seeds))
        return found


WORDS = """
Test accuracy against rounds and against one setting at a time; and what terms of the reward change.
{{ lines }}

*Setting.* {{ study.scenario.network.n_users }} users, {{ study.scenario.network.n_selected }} selected in
each round of scenario `{{ study.scenario.name }}`. Each change makes a scenario with jobs of its own.
{{ runs }}

*What is shown.* Accuracy is a trailing mean over 10 rounds, shown every 10 rounds. Against rounds: the
longest runs. Against a setting: the accuracy at equal simulated time, when the first of the two runs of a
seed ends; the grey bar marks the value of the scenario. Against time: what leaving out the privacy term
of the reward, its generalisation term or both adds to the mean accuracy. `summary.csv` has the
differences between `{{ study.selectors[0] }}` and the others, at that time and as means over all time
before it, with 95 % intervals over seeds.
"""


def compute(
    study: TrainedKnobs, note: Callable[[str], None], folders: Mapping[Experiment, Path]
) -> dict[str, pd.DataFrame]:
    """Collect the runs of a study.

    ``curves``, one row for every `STEP` rounds of a run, and for its last: ``knob``, ``value`` (text; the
    name of a variant), ``selector``, ``seed``, ``round``, ``elapsed_s``, ``accuracy`` (trailing mean) and
    ``leakage_max``. The scenario as it is has knob and value ``usual``.
    """
    frames = []
    for (knob, value), scenario in study.scenarios.items():
        note(f"{knob}: {value}")
        own = [Experiment(scenario.name, *run) for run in study.runs[scenario.name]]
        rounds = collect({row: folders[row] for row in own})
        for (selector, seed), run in rounds.groupby(["selector", "seed"], sort=False):
            smooth = moving_average(run["accuracy"].to_numpy(np.float64))
            run = run.assign(accuracy=smooth)
            last = run["round"] == run["round"].max()
            kept = run[(run["round"] % STEP == 0) | last]
            frame = kept[["round", "elapsed_s", "accuracy", "leakage_max"]].reset_index(drop=True)
            key = {"knob": knob, "value": value, "selector": selector, "seed": seed}
            frames.append(pd.DataFrame(key, index=frame.index).join(frame))
    return {"curves": pd.concat(frames, ignore_index=True)}


def compare(curves: pd.DataFrame) -> pd.DataFrame:
    """The first selector against the others, at equal simulated time.

    One row for each ``knob``, ``value`` and ``other`` selector: ``selector``, the first; ``n_seeds``;
    ``end_s``, the mean over seeds of the time at which the first of two runs ends; ``accuracy`` and
    ``accuracy_other``, mean accuracy at that time; ``difference`` of the two, and ``difference_over_time``,
    the mean difference from the first point of both curves to that time; each with ``_low`` and ``_high`` of
    its interval over seeds (NaN with one seed). Where the other has no runs, as such a change does not
    concern it, its usual ones count.
    """
    first = curves["selector"].iloc[0]
    runs = dict(iter(curves.groupby(["knob", "value", "selector", "seed"], sort=False)))
    rows = []
    for (knob, value), own in curves.groupby(["knob", "value"], sort=False):
        seeds = own["seed"].unique()
        for other in (name for name in curves["selector"].unique() if name != first):
            pairs = []
            for seed in seeds:
                theirs = (knob, value, other, seed)
                place = theirs if theirs in runs else ("usual", "usual", other, seed)
                pairs.append(_pair(runs[knob, value, first, seed], runs[place]))
            end, first_end, other_end, over_time = np.array(pairs).T
            row = {"knob": knob, "value": value, "selector": first, "other": other, "n_seeds": len(seeds)}
            row |= {"end_s": end.mean(), "accuracy": first_end.mean(), "accuracy_other": other_end.mean()}
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
    return float(end), float(first[-1]), float(second[-1]), float((first - second).mean())


def plot(tables: Tables, study: TrainedKnobs) -> Plotted:
    """Figure and ``summary`` of the table of `pausefl.studies.trained_knobs.compute`."""
    curves = tables["curves"]
    summary = compare(curves)
    usual = {knob.key: study.usual(knob) for knob in study.knobs}
    return Plotted(plot_accuracy(curves, summary, usual), {"summary": summary})


def plot_accuracy(curves: pd.DataFrame, summary: pd.DataFrame, usual: Mapping[str, float]) -> Figure:
    """Panels of accuracy: against rounds, against each setting, and against time what the variants change.

    ``usual`` has the value of each setting in the scenario.
    """
    curves = curves.assign(percent=100 * curves["accuracy"])
    knobs, first = [knob for knob in usual if knob != _ROUNDS], curves["selector"].iloc[0]
    n_rows = math.ceil((2 + len(knobs)) / 2)
    figure, grid = new_panels((n_rows, 2), 0.3 + 2.3 * n_rows)
    axes, *of_knobs, last = grid.flat[: 2 + len(knobs)]
    longest = curves[curves["round"] == curves["round"].max()][["knob", "value"]].iloc[0]
    own = curves[(curves["knob"] == longest["knob"]) & (curves["value"] == longest["value"])]
    bands = bands_of(own, "percent")
    lines, labels = plot_bands(axes, bands), [look_of(name).label for name in bands]
    axes.set(xlabel="Round", xlim=(0, own["round"].max()))
    for axes, knob in zip(of_knobs, knobs, strict=True):
        _plot_knob(axes, summary[summary["knob"].isin([knob, "usual"])], usual[knob])
        axes.set_xlabel(NAMES.get(knob, knob))
    lines.append(axes.axvline(np.nan, **USUAL))
    labels.append("Value of the scenario")
    for axes in (grid[0, 0], *of_knobs):
        axes.set(ylabel="Accuracy (%)", ylim=(0, 100))
    ours = curves[curves["selector"] == first]
    whole = bands_of(ours[ours["knob"] == "usual"], "percent", "elapsed_s")[first]
    without = ours[ours["knob"] == "variants"]
    for dashes, (name, own) in zip(_DASHES, without.groupby("value", sort=False), strict=False):
        curve = bands_of(own, "percent", "elapsed_s")[first]
        shared = curve.x[(curve.x >= whole.x[0]) & (curve.x <= whole.x[-1])]
        change = np.interp(shared, curve.x, curve.mean) - np.interp(shared, whole.x, whole.mean)
        lines += last.plot(shared, change, color="#B22222", linestyle=dashes, linewidth=1.2)
        labels.append(f"{LABELS[first]}, {NAMES.get(str(name), str(name).replace('_', ' '))} term")
    last.axhline(0, color=look_of(first).color, linewidth=0.8)
    last.set(xlabel="Simulated time (s)", ylabel=f"Change from {LABELS[first]} (points)")
    for rest in grid.flat[2 + len(knobs) :]:
        rest.set_visible(False)
    explain(figure, lines, labels, bands.values(), ncols=3)
    return figure


def _plot_knob(axes: Axes, own: pd.DataFrame, usual: float) -> None:
    """Accuracy of all selectors at equal time against the values of one setting."""
    own = own.assign(x=[usual if value == "usual" else float(value) for value in own["value"]])
    own = own.drop_duplicates(["x", "other"]).sort_values("x")
    axes.axvline(usual, **USUAL)
    axes.set_xscale("log")
    axes.set_xticks(own["x"].unique(), [f"{x:g}" for x in own["x"].unique()])
    axes.minorticks_off()
    for other, compared in own.groupby("other", sort=False):
        for name, column in ((str(other), "accuracy_other"), (compared["selector"].iloc[0], "accuracy")):
            axes.plot(compared["x"], 100 * compared[column], **look(name), **marker(name))
