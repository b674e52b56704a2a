"""Selectors side by side over the same simulated time: accuracy, leakage, fairness, and cost of selecting."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import model_validator

from pausefl.data.sources import SOURCES
from pausefl.figures.panels import NOTE, Plotted, new_panels
from pausefl.figures.style import legend_key
from pausefl.results.intervals import across_seeds, estimate
from pausefl.results.outcomes import TARGET_SHARE, fairness_of, seconds_to_target, smoothed, smoothed_at
from pausefl.runs.collected import read_runs
from pausefl.runs.run import rounds_made, rounds_of, runs_of
from pausefl.schema.types import Name, Positive
from pausefl.selectors import LABELS, in_legend_order
from pausefl.settings import Experiment, Scenario
from pausefl.studies.base import Note, Runs, SeededStudy, Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: What is measured of a run.
METRICS = (
    "accuracy",
    "accuracy_over_time",
    "seconds_to_target",
    "leakage_max",
    "fairness",
    "slow_share",
    "worst_class_accuracy",
    "selection_ms",
    "n_rounds",
)

#: In ``summary.json``, that the selector looks at losses that no budget pays for.
UNACCOUNTED = "unaccounted"

#: Selectors that know expected latencies, as no server does: they are shown, but never on the front.
ORACLES = frozenset({"genie", "fastest"})

#: What a selector is to have most of (1) or least of (-1) to be on the front; label of its panel, with an
#: arrow to what is better, and unit.
FRONT = {
    "accuracy_over_time": (1, "Mean accuracy\nover time (%) →", 100),
    "leakage_max": (-1, "← Largest leakage\n(ε per coordinate)", 1),
    "seconds_to_target": (-1, "← Time to {target:.1f} %\n(simulated s)", 1),
}

_DOT: dict[str, Any] = {"marker": "o", "color": "#222222", "markersize": 4.2, "linestyle": ""}

_BAR: dict[str, Any] = {"color": "#222222", "linewidth": 0.7}

#: Who is on the front, in words, and their points.
_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "front": ("On the front: no other private one is as good in all three", _DOT),
    "behind": ("Behind it", _DOT | {"markerfacecolor": "white"}),
    "apart": (
        "Not ranked: knows latencies beforehand, or has no privacy",
        _DOT | {"marker": "D", "color": "#777777", "markersize": 3.4, "markerfacecolor": "white"},
    ),
}

#: Mark of a selector whose reported losses no budget pays for.
UNPAID = "†"


class Benchmark(SeededStudy):
    """Selectors side by side: accuracy, leakage, fairness and cost of jobs within the same simulated time."""

    label = "selectors side by side"
    beyond = True

    jobs: Name
    """Name of the scenario with the study's changes, in which the jobs run."""
    time_s: Positive
    """Simulated seconds that selectors are compared over; a run that ends earlier keeps what it had."""

    @property
    def trained(self) -> bool:
        """Whether it collects `runs`."""
        return True

    @cached_property
    def runs(self) -> list[Runs]:
        """All selectors and seeds, in the scenario under a name of its own."""
        scenario = self.scenario.replace(name=self.jobs, scale="own", figures={})
        return [(scenario, list(product(self.selectors, self.seeds)))]

    @model_validator(mode="after")
    def _has_classes(self) -> Self:
        if SOURCES[self.scenario.data.source].regression:
            raise ValueError(f"scenario: '{self.scenario.name}' is a regression, so it has no accuracy")
        return self

    def compute(self, note: Note, folders: Mapping[Experiment, Path]) -> Tables:
        """Measure the runs up to the time.

        ``runs.csv``, one row a run: ``selector``, ``seed`` and what `measure` returns.
        """
        runs = read_runs(folders)
        rounds = rounds_of(runs.values())
        target = target_accuracy(rounds, self.time_s)
        rows = []
        for selector, seed, run in runs_of(rounds):
            note(f"{selector}, seed {seed}")
            summary = runs[Experiment(self.jobs, selector, seed)].summary
            measured = measure(self.scenario, run, summary, self.time_s, target)
            rows.append({"selector": selector, "seed": seed} | measured)
        return {"runs.csv": pd.DataFrame(rows)}

    def plot(self, tables: Tables) -> Plotted:
        """Means and deviations of what decides on the front, the best selector on top; and ``summary``.

        An axis holds the private selectors that reach the target under most seeds. Arrows at its ends are
        others, with their values; of a target that no seed reaches there is none.
        """
        across = summary(tables["runs.csv"], self)
        rows = across.sort_values("accuracy_over_time_mean", ignore_index=True)
        scaled = np.isfinite(rows["leakage_max_mean"]) & (rows["n_reached"] > rows["n_seeds"] / 2)
        rows["scaled"] = scaled | ~scaled.any()
        rows["look"] = np.select([rows["on_front"], _rivals(rows)], ["front", "behind"], "apart")
        figure, grid = new_panels((1, len(FRONT)), 1.2 + 0.155 * len(rows), sharey=True)
        for axes, (metric, (_, label, unit)) in zip(grid.flat, FRONT.items(), strict=True):
            axes.set_xlabel(label.format(target=100 * rows["target_accuracy"].iloc[0]), linespacing=1)
            axes.set_ylim(-0.6, len(rows) - 0.4)
            mean, deviation = unit * rows[f"{metric}_mean"], unit * rows[f"{metric}_sd"].fillna(0)
            _plot_means(axes, rows.assign(mean=mean, deviation=deviation), metric)
        unpaid = rows["losses"] == UNACCOUNTED
        names = [
            LABELS[name] + f" {UNPAID}" * mark for name, mark in zip(rows["selector"], unpaid, strict=True)
        ]
        axes.set_yticks(range(len(rows)), names)
        for name, bold in zip(grid[0, 0].get_yticklabels(), rows["on_front"], strict=True):
            name.set_weight("bold" if bold else "normal")
        handles = [legend_key(words, **look) for words, look in _LOOKS.values()]
        if (rows["n_seeds"] > 1).any():
            handles.append(legend_key("Standard deviation over seeds", **_BAR))
        if (~rows["scaled"] | (rows["n_reached"] == 0)).any():
            words = "Outside the axis, with its value; or target not reached"
            handles.append(legend_key(words, **_LOOKS["behind"][1] | {"marker": ">"}))
        if rows["n_reached"].between(1, rows["n_seeds"] - 1).any():
            words = f"“by n of {rows['n_seeds'].max()} seeds”: others count with the whole time"
            handles.append(legend_key(words, linestyle=""))
        if unpaid.any():
            words = f"{UNPAID} leaks more: no budget pays for its losses"
            handles.append(legend_key(words, linestyle=""))
        figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=1)
        return Plotted(figure, {"summary.csv": across})


def target_accuracy(rounds: pd.DataFrame, time_s: float) -> float:
    """`TARGET_SHARE` of the best accuracy (mean over seeds) of a selector of finite leakage at a time."""
    then: dict[str, list[float]] = {}
    for selector, _, run in runs_of(rounds):
        if np.isfinite(run["leakage_max"]).all():
            then.setdefault(selector, []).append(smoothed_at(run, "accuracy", time_s))
    means = [mean for values in then.values() if not math.isnan(mean := float(np.mean(values)))]
    return TARGET_SHARE * max(means, default=math.nan)


def measure(
    scenario: Scenario, run: pd.DataFrame, summary: Mapping[str, Any], time_s: float, target: float
) -> dict[str, Any]:
    """What a run achieved within a simulated time; what it had when it ended, if that was earlier.

    ``run`` has its rounds, ``summary`` its ``summary.json``; ``target`` is an accuracy in [0, 1].

    Test ``accuracy`` at that time, and ``accuracy_over_time``, its mean from chance level at 0 s up to it,
    both of the trailing mean over 10 rounds; ``seconds_to_target``, NaN if the run does not reach it in that
    time; ``leakage_max``, the largest of any user; ``fairness``, Jain's index of leakage over users (of
    participations without privacy); ``slow_share`` of participations by the slower half of the users;
    ``n_rounds`` within the time. Of the whole run: ``worst_class_accuracy`` of the last model and
    ``selection_ms``, wall-clock time of selecting a round.
    """
    within = run[run["elapsed_s"] <= time_s]
    reached = seconds_to_target(run, target)
    classes = summary["class_accuracy"]
    return {
        "accuracy": smoothed_at(run, "accuracy", time_s),
        "accuracy_over_time": _over_time(run, time_s, 1 / len(classes)),
        "seconds_to_target": reached if reached <= time_s else math.nan,
        "leakage_max": float(within["leakage_max"].max()) if len(within) else 0.0,
        **fairness_of(scenario, within["selection"]),
        "worst_class_accuracy": min(value for value in classes if value is not None),
        "selection_ms": 1e3 * summary["timings_s"]["selection"] / rounds_made(summary),
        "n_rounds": len(within),
        "target_accuracy": target,
        "losses": summary["losses"],
    }


def _over_time(run: pd.DataFrame, time_s: float, chance: float) -> float:
    """Mean accuracy from 0 s to a time, on straight lines from chance level; the last value stays."""
    elapsed, accuracy = smoothed(run, "accuracy")
    elapsed, accuracy = np.append(0.0, elapsed), np.append(chance, accuracy)
    times = np.append(elapsed[elapsed < time_s], time_s)
    return float(np.trapezoid(np.interp(times, elapsed, accuracy), times)) / time_s


def summary(runs: pd.DataFrame, study: Benchmark) -> pd.DataFrame:
    """Means and sample standard deviations over seeds, differences from the first selector, and the front.

    One row a selector, in the order of legends. ``selector``, ``n_seeds``, each of the `METRICS` with
    ``_mean`` and ``_sd``; a run that does not reach the target counts with the time of the study.
    ``n_reached``, the seeds that reach it. ``difference``: mean accuracy over time less that of the study's
    first selector under the same seed, its mean; ``difference_low`` and ``difference_high``, the interval
    of that mean. ``on_front``, as `on_front` has it; ``target_accuracy`` and ``losses``.
    """
    runs = runs.set_index(["selector", "seed"])
    across = across_seeds(runs[list(METRICS)].fillna({"seconds_to_target": study.time_s}))
    across = across.set_index("selector")
    of_selector = runs.groupby("selector", sort=False)
    across["n_reached"] = of_selector["seconds_to_target"].count()
    across[["target_accuracy", "losses"]] = of_selector[["target_accuracy", "losses"]].first()
    over_time = runs["accuracy_over_time"].unstack("selector")
    differences = over_time.sub(over_time[study.scenario.selectors[0]], axis=0)
    columns = ("difference", "difference_low", "difference_high")
    across = across.join(pd.DataFrame({name: estimate(differences[name]) for name in differences}, columns).T)
    across = across.loc[in_legend_order(across.index)].reset_index()
    across["on_front"] = on_front(across)
    return across


def on_front(across: pd.DataFrame) -> list[bool]:
    """Whether no rival is as good in all means of `FRONT` and better in one.

    Rivals are private and not among `ORACLES`; the others are not on the front.
    """
    rival = _rivals(across)
    means = [sign * across[f"{name}_mean"].to_numpy(np.float64) for name, (sign, *_) in FRONT.items()]
    values = np.array(means).T
    better = [((values >= own).all(axis=1) & (values > own).any(axis=1) & rival).any() for own in values]
    return list(rival & ~np.array(better))


def _rivals(across: pd.DataFrame) -> NDArray[np.bool]:
    return np.asarray(np.isfinite(across["leakage_max_mean"]) & ~across["selector"].isin(ORACLES))


def _plot_means(axes: Axes, rows: pd.DataFrame, metric: str) -> None:
    """Mean and deviation of each row; beside times to the target, how many seeds reach it, if not all do."""
    inside = rows[rows["scaled"]]
    low, high = (inside["mean"] - inside["deviation"]).min(), (inside["mean"] + inside["deviation"]).max()
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin
    axes.set_xlim(low, high)
    for y, row in enumerate(rows.to_dict("records")):
        late = metric == "seconds_to_target" and row["n_reached"] < row["n_seeds"]
        never = late and not row["n_reached"]
        x, look = min(max(math.inf if never else row["mean"], low), high), dict(_LOOKS[row["look"]][1])
        if x == row["mean"]:
            axes.hlines(y, x - row["deviation"], x + row["deviation"], **_BAR, zorder=2)
        else:
            look["marker"], side, place = ("<", "left", 6) if x == low else (">", "right", -6)
            words = "" if never else f"{row['mean']:.0f}".replace("inf", "∞")
            axes.annotate(words, (x, y), (place, 0), ha=side, va="center", **NOTE)
        axes.plot(x, y, clip_on=False, zorder=3, **look)
        if late:
            words = "not reached" if never else f"by {row['n_reached']} of {row['n_seeds']} seeds"
            axes.annotate(words, (high, y), (7, 0), va="center", **NOTE)
