"""Selectors side by side over the same simulated time: accuracy, time to targets, budget spent, fairness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pydantic import model_validator

from pausefl.analysis import markdown
from pausefl.analysis.figures.panels import NOTE, Plotted, new_panels
from pausefl.analysis.figures.style import legend_key
from pausefl.analysis.formats import mean_sd
from pausefl.analysis.measures import (
    BUDGETS,
    FRONT_SHARE,
    TARGETS,
    across,
    budget_table,
    in_name,
    measure,
    speed_table,
    unranked,
)
from pausefl.analysis.outcomes import fairness_of, smoothed
from pausefl.data.sources import SOURCES
from pausefl.errors import ConfigError
from pausefl.reproduction.studies.base import Note, Runs, SeededStudy, Tables
from pausefl.runs.collected import read_runs
from pausefl.runs.run import Run, rounds_made
from pausefl.runs.run_id import RunId
from pausefl.schema.base import Settings
from pausefl.schema.types import Distinct, Name, Positive, Text
from pausefl.selectors import LABELS, SELECTORS, in_legend_order
from pausefl.selectors.settings import Share
from pausefl.settings.dotted_keys import with_values
from pausefl.settings.scenario import SelectorName

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: In ``summary.json``, how losses are reported: outside any budget, or paid for, which makes them noise.
UNACCOUNTED, ACCOUNTED = "unaccounted", "accounted"

#: Measures of a selector's panels, with an arrow to what is better, and unit.
PANELS = {
    "accuracy": ("Accuracy at\n{time:g} s (%) →", 100),
    "spent_max": ("← Largest budget spent\n(ε per coordinate)", 1),
    "seconds": ("← Median time to {target:g} %\n(simulated s)", 1),
}

_DOT: dict[str, Any] = {"marker": "o", "color": "#222222", "markersize": 4.2, "linestyle": ""}

_BAR: dict[str, Any] = {"color": "#222222", "linewidth": 0.7}

#: Who is on the front, in words, and their points.
_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "front": ("On the front: in 80 % of bootstrap samples no other is as good in all three", _DOT),
    "behind": ("Behind it", _DOT | {"markerfacecolor": "white"}),
    "apart": (
        "Not ranked: an oracle, without privacy, or its losses are noise or unpaid",
        _DOT | {"marker": "D", "color": "#777777", "markersize": 3.4, "markerfacecolor": "white"},
    ),
}

#: Marks of a selector whose reported losses no budget pays for, and of one whose losses are nearly noise.
UNPAID, NOISE = "†", "‡"


#: What they mean below a table.
_MARKS = {
    UNPAID: "looks at losses that no budget pays for: it spends more than is shown. It is not ranked.",
    NOISE: "chooses on noise: losses are paid from its clients' budgets. It is not ranked.",
}

#: Measures of the table on who takes part, and at what cost: head, digits, factor.
_BESIDES: dict[str, tuple[str, int, float]] = {
    "accuracy_over_time": ("Mean accuracy over time (%)", 1, 100),
    "fairness": ("Jain's index", 3, 1),
    "slow_share": ("Slow clients (%)", 1, 100),
    "worst_class_accuracy": ("Worst class (%)", 1, 100),
    "selection_ms": ("Selection (ms)", 2, 1),
}


class Variant(Settings):
    """A selector with other constants than the scenario has, as a row of its own."""

    selector: SelectorName
    """The selector."""
    label: Text
    """What tables and figures call it."""
    selection: dict[str, Any]
    """Keys of the section `selection` in place of the scenario's."""


class Benchmark(SeededStudy):
    """Selectors side by side: accuracy, speed, budget spent and fairness within the same simulated time."""

    label = "selectors side by side"
    beyond = True

    jobs: Name
    """Name of the scenario with the study's changes, in which the jobs run."""
    time_s: Positive
    """Simulated seconds that selectors are compared over; a run that ends earlier keeps what it had."""
    variants: dict[Name, Variant] = {}
    """Rows besides those of `selectors`, by name: selectors with other constants."""
    targets: Distinct[Share] = TARGETS
    """Target accuracies in [0, 1] that times are told to."""
    front_target: Share = 0.8
    """The one of the targets whose time decides on the front."""
    budgets: Distinct[Positive] = BUDGETS
    """Largest budgets spent at which accuracies are told."""

    @property
    def trained(self) -> bool:
        """Whether it collects `runs`."""
        return True

    @cached_property
    def runs(self) -> list[Runs]:
        """All selectors and seeds, in the scenario under a name of its own; variants in one each."""
        scenario = self.scenario.replace(name=self.jobs, scale="own", figures={})
        found = [(scenario, list(product(self.selectors, self.seeds)))]
        for name, one in self.variants.items():
            changed = with_values(
                scenario,
                {f"selection.{key}": value for key, value in one.selection.items()},
                f"variants.{name}",
            )
            changed = changed.replace(name=f"{self.jobs}_{name}", selectors=(one.selector,))
            found.append((changed, list(product([one.selector], self.seeds))))
        return found

    @property
    def names(self) -> dict[str, str]:
        """What rows are called, by name: selectors in the order of legends, each before its variants."""
        rows = {name: LABELS[name] for name in self.selectors} | {
            name: one.label for name, one in self.variants.items()
        }
        of = {name: name for name in self.selectors} | {
            name: one.selector for name, one in self.variants.items()
        }
        order = in_legend_order(set(of.values()))
        return {name: rows[name] for name in sorted(rows, key=lambda name: order.index(of[name]))}

    @model_validator(mode="after")
    def _rows_are_told_apart(self) -> Self:
        if twice := set(self.variants) & set(self.selectors):
            raise ValueError(f"variants: '{min(twice)}' is among selectors, too")
        if self.front_target not in self.targets:
            raise ValueError(f"front_target = {self.front_target:g} must be one of targets")
        try:
            self.runs  # noqa: B018 (reads every variant)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self

    @model_validator(mode="after")
    def _has_classes(self) -> Self:
        if SOURCES[self.scenario.data.source].regression:
            raise ValueError(f"scenario: '{self.scenario.name}' is a regression, so it has no accuracy")
        return self

    def compute(self, note: Note, folders: Mapping[RunId, Path]) -> Tables:
        """Measure the runs up to the time.

        ``runs.csv``, one row a run: ``selector`` (of a variant its name), ``seed`` and what `measured`
        returns.
        """
        names = [None, *self.variants]
        rows = []
        for name, (scenario, jobs) in zip(names, self.runs, strict=True):
            for job in (RunId(scenario.name, *job) for job in jobs):
                (run,) = read_runs({job: folders[job]}).values()
                note(f"{name or job.selector}, seed {job.seed}")
                key = {"selector": name or job.selector, "seed": job.seed}
                rows.append(key | self.measured(run))
        return {"runs.csv": pd.DataFrame(rows)}

    def measured(self, run: Run) -> dict[str, Any]:
        """What a run achieved within the time: what `pausefl.analysis.measures.measure` returns, and more.

        Besides, ``accuracy_over_time``, mean accuracy from chance level at 0 s up to the time;
        ``fairness``, Jain's index of the budget spent over users (of participations without privacy);
        ``slow_share`` of participations by the slower half of the users. Of the whole run:
        ``worst_class_accuracy`` of the last model, ``selection_ms``, wall-clock time of selecting a round,
        and ``losses``, how losses are reported.
        """
        scenario, summary, classes = self.scenario, run.summary, run.summary["class_accuracy"]
        private = scenario.privacy is not None and SELECTORS[run.selector].private
        schedule = scenario.privacy.make_account() if scenario.privacy is not None and private else None
        within = run.rounds[run.rounds["elapsed_s"] <= self.time_s]
        return {
            **measure(
                run.rounds, self.time_s, scenario.network.n_users, schedule, self.targets, self.budgets
            ),
            "accuracy_over_time": _over_time(run.rounds, self.time_s, 1 / len(classes)),
            **fairness_of(scenario, within["selection"]),
            "worst_class_accuracy": min(value for value in classes if value is not None),
            "selection_ms": 1e3 * summary["timings_s"]["selection"] / rounds_made(summary),
            "losses": summary["losses"],
        }

    def summary(self, runs: pd.DataFrame) -> pd.DataFrame:
        """One row a selector and variant, in the order of `names`: what `across` returns, and ``losses``.

        ``front`` is NaN of those that are `unranked`.
        """
        summary = across(runs, self.first, self.front_target, unranked(runs)).set_index("selector")
        summary["losses"] = runs.groupby("selector")["losses"].first()
        return summary.loc[[name for name in self.names if name in summary.index]].reset_index()

    def to_markdown(self, runs: pd.DataFrame) -> str:
        """Tables for people: speed, budget, and who takes part at what cost."""
        summary = self.summary(runs)
        names = {
            row["selector"]: f"{self.names[row['selector']]} {marks(row)}".rstrip()
            for row in summary.to_dict("records")
        }
        records = [
            {"Selector": names[row["selector"]]}
            | {head: mean_sd(row, name, digits, unit) for name, (head, digits, unit) in _BESIDES.items()}
            | {"Seeds": str(row["n_seeds"])}
            for _, row in summary.iterrows()
        ]
        seen = [mark for mark in _MARKS if any(mark in name for name in names.values())]
        parts = [speed_table(summary, names, self.first, self.time_s, self.front_target)]
        if np.isfinite(summary["spent_max_mean"]).any():
            parts.append(budget_table(summary, names))
        parts.append(markdown.of_records(records, " ".join(f"{mark} {_MARKS[mark]}" for mark in seen)))
        return "\n".join(parts)

    @property
    def first(self) -> str:
        """The row that differences are from: the first selector."""
        return self.selectors[0]

    def plot(self, tables: Tables) -> Plotted:
        """What decides on the front, the most accurate selector on top; and ``summary``.

        Means and deviations over seeds; of times the median of all seeds, with a deviation only where all
        reach the target. An axis holds the ranked selectors, and those without paid losses, that reach the
        target under most seeds. Arrows at its ends are others, with their values; of a target
        that no seed reaches there is none.
        """
        summary = self.summary(tables["runs.csv"])
        rows = summary.sort_values("accuracy_mean", ignore_index=True)
        seconds = f"seconds_to_{in_name(100 * self.front_target)}"
        rows["seconds_mean"], rows["seconds_sd"] = rows[f"{seconds}_median"], rows[f"{seconds}_sd"]
        rows["n_reached"] = rows[f"{seconds}_n"]
        rows["seconds_sd"] = rows["seconds_sd"].where(rows["n_reached"] == rows["n_seeds"])
        scaled = rows["front"].notna() | (rows["losses"] == UNACCOUNTED)
        scaled &= rows["n_reached"] > rows["n_seeds"] / 2
        rows["scaled"] = scaled if scaled.any() else True
        rows["look"] = np.select(
            [rows["front"] >= FRONT_SHARE, rows["front"].notna()], ["front", "behind"], "apart"
        )
        shown = {name: of for name, of in PANELS.items() if np.isfinite(rows[f"{name}_mean"]).any()}
        figure, grid = new_panels((1, len(shown)), 1.2 + 0.155 * len(rows), sharey=True)
        for axes, (measured, (label, unit)) in zip(grid.flat, shown.items(), strict=True):
            axes.set_xlabel(label.format(target=100 * self.front_target, time=self.time_s), linespacing=1)
            axes.set_ylim(-0.6, len(rows) - 0.4)
            mean, deviation = unit * rows[f"{measured}_mean"], unit * rows[f"{measured}_sd"].fillna(0)
            _plot_means(axes, rows.assign(mean=mean, deviation=deviation), measured)
        names = [f"{self.names[row['selector']]} {marks(row)}".rstrip() for row in rows.to_dict("records")]
        axes.set_yticks(range(len(rows)), names)
        for name, look in zip(grid[0, 0].get_yticklabels(), rows["look"], strict=True):
            name.set_weight("bold" if look == "front" else "normal")
        handles = [legend_key(words, **_LOOKS[one][1]) for one, (words, _) in _LOOKS.items()]
        if (rows["n_seeds"] > 1).any():
            handles.append(legend_key("Standard deviation over seeds", **_BAR))
        if (~rows["scaled"] | (rows["n_reached"] == 0)).any():
            words = "Outside the axis, with its value (∞: half of the seeds miss it)"
            handles.append(legend_key(words, **_LOOKS["behind"][1] | {"marker": ">"}))
        if rows["n_reached"].between(1, rows["n_seeds"] - 1).any():
            words = f"“{rows['n_seeds'].max()} seeds”: others are later than all that are shown"
            handles.append(legend_key(words.replace("“", "“by n of "), linestyle=""))
        if (rows["losses"] == UNACCOUNTED).any():
            words = f"{UNPAID} spends more: no budget pays for its losses"
            handles.append(legend_key(words, linestyle=""))
        if (rows["losses"] == ACCOUNTED).any():
            handles.append(
                legend_key(f"{NOISE} chooses on noise: losses are paid from budgets", linestyle="")
            )
        figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=1)
        return Plotted(figure, {"summary.csv": summary})


def marks(row: Mapping[Any, Any]) -> str:
    """Marks of a row of `Benchmark.summary`: how its losses are reported."""
    return {UNACCOUNTED: UNPAID, ACCOUNTED: NOISE}.get(row["losses"], "")


def _over_time(run: pd.DataFrame, time_s: float, chance: float) -> float:
    """Mean accuracy from 0 s to a time, on straight lines from chance level; the last value stays."""
    elapsed, accuracy = smoothed(run, "accuracy")
    elapsed, accuracy = np.append(0.0, elapsed), np.append(chance, accuracy)
    times = np.append(elapsed[elapsed < time_s], time_s)
    return float(np.trapezoid(np.interp(times, elapsed, accuracy), times)) / time_s


def _plot_means(axes: Axes, rows: pd.DataFrame, metric: str) -> None:
    """Mean and deviation of each row; beside times to the target, how many seeds reach it, if not all do."""
    inside = rows[rows["scaled"]]
    low, high = (inside["mean"] - inside["deviation"]).min(), (inside["mean"] + inside["deviation"]).max()
    margin = 0.05 * (high - low) or 1.0
    low, high = low - margin, high + margin
    axes.set_xlim(low, high)
    for y, row in enumerate(rows.to_dict("records")):
        late = metric == "seconds" and row["n_reached"] < row["n_seeds"]
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
