"""Named numbers of the selection benchmark and of factorial studies, for pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pausefl.analysis import markdown
from pausefl.analysis.benchmark.comparisons import Measure, compare, measures_of, unranked
from pausefl.analysis.benchmark.page import to_markdown
from pausefl.analysis.benchmark.suite import Suite
from pausefl.analysis.formats import change, in_points, number, with_interval
from pausefl.analysis.intervals import Estimate, estimate
from pausefl.analysis.measures import participations
from pausefl.analysis.outcomes import smoothed_at
from pausefl.reproduction.pages.published import Published
from pausefl.reproduction.studies.factorial import MEASURES, Factorial, Measured
from pausefl.reproduction.studies.worlds import Worlds
from pausefl.selectors import LABELS, in_legend_order
from pausefl.settings import load_scenario

#: When the sweep wins in a world, decided before any run: budget and rounds over the other's, and the least
#: end of the interval of accuracy minus the other's, in points.
MOST_BUDGET, LEAST_ROUNDS, LEAST_ACCURACY = 0.70, 0.95, -1.0

#: What is compared between two benchmarks.
_BETWEEN = {
    "n_rounds": "Rounds (ratio)",
    "seconds_to_80": "Time to 80 % (ratio)",
    "spent_max": "Largest budget spent (ratio)",
    "accuracy": "Accuracy (points)",
}


class _Judged(NamedTuple):
    """A selector against another in a cell, under the same seed."""

    world: str
    labels: str
    #: Ratios of the largest budget spent and of rounds.
    budget: Estimate
    n_rounds: Estimate
    #: Difference in points.
    accuracy: Estimate

    @property
    def won(self) -> bool:
        """Whether it wins by the rule."""
        kept = self.budget.mean <= MOST_BUDGET and self.n_rounds.mean >= LEAST_ROUNDS
        return kept and self.accuracy.low > LEAST_ACCURACY


class WorldNumbers:
    """Makers of numbers of the selection benchmark; each returns a text."""

    published: Published

    @cached_property
    def _compared_with(self) -> dict[tuple[str, str], pd.DataFrame]:
        """What `compare` returned, by study and reference."""
        return {}

    def worlds_table(self, study: str, measure: str, labels: str) -> str:
        """All selectors against the reference by a measure, under one law of labels; a Markdown table."""
        settings, rows = self._worlds(study)
        suite, reference = settings.benchmark, settings.reference
        own = pd.concat(
            self._all_compared(study, measure, name, reference, labels)[0]
            for name in rows["selector"].unique()
        )
        return to_markdown(own, suite, measures_of(suite)[measure], reference, unranked(rows)).rstrip()

    def worlds_brief(self, study: str, labels: str, *selectors: str) -> str:
        """Mean accuracy (%) and mean largest budget spent of selectors in each world; a Markdown table.

        ``86.3 · 6.5`` in a cell, under one law of labels.
        """
        settings, rows = self._worlds(study)
        suite, marked = settings.benchmark, unranked(rows)
        own = rows[rows["labels"] == labels]
        means = own.groupby(["selector", "world"])[["accuracy", "spent_max"]].mean()
        cells = {
            place: f"{100 * row['accuracy']:.1f} · {row['spent_max']:.1f}" for place, row in means.iterrows()
        }
        body = [
            [
                LABELS[name] + " ‡" * (name in marked),
                *(cells.get((name, world), "–") for world in suite.worlds),
            ]
            for name in selectors
        ]
        head = ["Selector", *(world.title for world in suite.worlds.values())]
        return markdown.table(head, body, "lr").rstrip()

    def worlds_against(self, study: str, other: str, *selectors: str) -> str:
        """Accuracy of selectors less another's in each cell, in points with its interval; a Markdown table.

        Bold if the difference remains after Holm's correction.
        """
        suite = self._worlds(study)[0].benchmark
        rows = []
        for world, labels in product(suite.worlds, suite.labels):
            cells = []
            for selector in selectors:
                row, measured = self._compared(study, world, labels, "accuracy", selector, other)
                gap = _gap(row, measured)
                cells.append(gap if row["verdict"] == "equal" else f"**{gap}**")
            rows.append([suite.worlds[world].title, suite.labels[labels], *cells])
        head = ["World", "Labels", *(LABELS[name] for name in selectors)]
        return markdown.table(head, rows, "llr").rstrip()

    def worlds_average(self, study: str, selector: str, other: str) -> str:
        """Accuracy of a selector less another's, the mean of all cells: ``−1.3 (−2.3 to −0.2)`` points.

        Seeds are the sample, so the interval takes cells as given.
        """
        suite = self._worlds(study)[0].benchmark
        ours, theirs = (
            pd.concat(
                [
                    self._by_seed(study, *cell, "accuracy", name)
                    for cell in product(suite.worlds, suite.labels)
                ]
            )
            for name in (selector, other)
        )
        return in_points(*estimate((ours - theirs).groupby("seed").mean()))

    def worlds_value(self, study: str, world: str, labels: str, measure: str, selector: str) -> str:
        """A selector's mean over seeds in a cell, of a time the median: ``87.1``, ``74``."""
        row, measured = self._compared(study, world, labels, measure, selector, selector)
        return number(measured.factor * row["mean"], f".{measured.digits}f")

    def worlds_gap(self, study: str, world: str, labels: str, measure: str, selector: str, other: str) -> str:
        """A selector against another in a cell, a difference or a ratio: ``0.63 (0.61 to 0.65)``."""
        row, measured = self._compared(study, world, labels, measure, selector, other)
        if row["bound"]:
            return f"{row['bound']} {number(_unit(measured) * row['gap'], _form(measured.ratio))}"
        return _gap(row, measured)

    def worlds_less(
        self, study: str, world: str, labels: str, measure: str, selector: str, other: str
    ) -> str:
        """How much less or more than another a selector has of a measure: ``38 % less``, ``18 % more``."""
        row, _ = self._compared(study, world, labels, measure, selector, other)
        return change(row["gap"])

    def worlds_less_range(self, study: str, measure: str, selector: str, other: str) -> str:
        """The same of all cells, from the least to the greatest change: ``18 to 38 % less``."""
        return change(*self._all_compared(study, measure, selector, other)[0]["gap"])

    def worlds_count(
        self, study: str, measure: str, selector: str, other: str, verdict: str, labels: str = ""
    ) -> str:
        """In how many cells a selector is better, equal or worse than another: ``9 of 12``."""
        own, _ = self._all_compared(study, measure, selector, other, labels)
        return f"{(own['verdict'] == verdict).sum()} of {len(own)}"

    def worlds_rule(self, study: str, selector: str, other: str) -> str:
        """Whether a selector wins in each cell by the rule that was decided beforehand; a Markdown table."""
        rows = [
            (
                one.world,
                one.labels,
                _kept(f"{one.budget.mean:.3f}", one.budget.mean <= MOST_BUDGET),
                _kept(f"{one.n_rounds.mean:.3f}", one.n_rounds.mean >= LEAST_ROUNDS),
                _kept(with_interval(*one.accuracy, "+.1f"), one.accuracy.low > LEAST_ACCURACY),
                "**yes**" if one.won else "no",
            )
            for one in self._judged(study, selector, other)
        ]
        head = ("World", "Labels", "Budget spent, ratio", "Rounds, ratio", "Accuracy (points)", "Wins")
        return markdown.table(head, rows, "llrrrl").rstrip()

    def worlds_won(self, study: str, selector: str, other: str) -> str:
        """In how many cells it wins: ``3 of 12``."""
        judged = list(self._judged(study, selector, other))
        return f"{sum(one.won for one in judged)} of {len(judged)}"

    def worlds_not_bounded(self, study: str, selector: str, other: str) -> str:
        """In how many cells its accuracy may be lower by as much as the rule forbids: ``10 of 12``."""
        judged = list(self._judged(study, selector, other))
        return f"{sum(one.accuracy.low <= LEAST_ACCURACY for one in judged)} of {len(judged)}"

    def worlds_below(self, study: str, world: str, labels: str, selector: str, accuracy: float) -> str:
        """Under how many seeds a selector ends below an accuracy in [0, 1] in a cell: ``3 of 10``."""
        ends = self._by_seed(study, world, labels, "accuracy", selector)
        return f"{(ends < accuracy).sum()} of {len(ends)}"

    def worlds_mean(
        self, study: str, world: str, labels: str, column: str, selector: str, form: str = ".2f"
    ) -> str:
        """Mean over seeds of a column of runs in a cell: ``0.54``."""
        return f"{self._by_seed(study, world, labels, column, selector).mean():{form}}"

    def most_often(self, scenario: str, seed: int, selector: str) -> str:
        """How often the client that takes part most does so, in a published run within its time: ``12``."""
        settings = load_scenario(scenario, self.published.scenarios)
        (run,) = (
            one for one in self.published.all_runs(scenario) if (one.selector, one.seed) == (selector, seed)
        )
        within = run.rounds[run.rounds["elapsed_s"] <= settings.training.horizon]
        return str(participations(within, settings.network.n_users).max())

    def between_worlds(self, study: str, other_study: str, world: str) -> str:
        """Selectors in a world of a benchmark against themselves in that of another; a Markdown table.

        Under the same seed: ratios of rounds, of times, under the seeds that reach the target in both, and of
        the largest budget spent; points of accuracy.
        """
        suite = self._worlds(study)[0].benchmark
        records = []
        for labels, selector in product(suite.labels, suite.selectors):
            record = {"Selector": LABELS[selector], "Labels": suite.labels[labels]}
            for column, title in _BETWEEN.items():
                ours, theirs = (
                    self._by_seed(one, world, labels, column, selector) for one in (study, other_study)
                )
                ratio = column != "accuracy"
                gap = _paired(ours, theirs, ratio, 100)
                # fewer than two seeds have no interval
                record[title] = "–" if math.isnan(gap.low) else with_interval(*gap, _form(ratio))
            records.append(record)
        return markdown.table(list(records[0]), [list(one.values()) for one in records], "llr").rstrip()

    def more_rounds(self, study: str, other_study: str, world: str, labels: str, selector: str) -> str:
        """How many more rounds a selector makes there than in another benchmark's world: ``67 % more``."""
        ours, theirs = (
            self._by_seed(one, world, labels, "n_rounds", selector) for one in (study, other_study)
        )
        return change(_paired(ours, theirs, ratio=True, unit=1).mean)

    def at_time(self, scenario: str, time_s: float, elsewhere: Mapping[str, list[str]] | None = None) -> str:
        """Rounds, accuracy and largest budget spent of all published runs by then; a Markdown table.

        ``elsewhere`` names other scenarios with selectors, whose runs under the same seeds stand beside them.
        Accuracy is compared with PAUSE's under the same seed.
        """
        runs = self.published.all_runs(scenario)
        for place, selectors in (elsewhere or {}).items():
            seeds = {run.seed for run in runs}
            there = (run for run in self.published.all_runs(place) if run.seed in seeds)
            runs += [run for run in there if run.selector in selectors]
        rows = [
            {"selector": run.selector, "seed": run.seed}
            | {"n_rounds": (run.rounds["elapsed_s"] <= time_s).sum()}
            | {"accuracy": 100 * smoothed_at(run.rounds, "accuracy", time_s)}
            | {"spent": run.rounds.loc[run.rounds["elapsed_s"] <= time_s, "leakage_max"].max()}
            for run in runs
        ]
        by = pd.DataFrame(rows).pivot(index="seed", columns="selector")
        head = ["Selector", "Seeds", "Rounds", "Accuracy (%)", "Accuracy minus PAUSE's (points)"]
        cells = []
        for name in in_legend_order({run.selector for run in runs}):
            n_rounds, accuracy, spent = (
                by[column, name].dropna() for column in ("n_rounds", "accuracy", "spent")
            )
            gap = estimate((accuracy - by["accuracy", "pause"]).dropna())
            against = "–" if name == "pause" else with_interval(*gap, _form(ratio=False))
            means = f"{n_rounds.mean():.0f}", f"{accuracy.mean():.1f}", against, f"{spent.mean():.1f}"
            cells.append([LABELS[name], str(len(n_rounds)), *means])
        return markdown.table([*head, "Largest budget spent (ε)"], cells, "lr").rstrip()

    def effects_table(self, study: str) -> str:
        """What each level of each factor changes; a Markdown table."""
        return self._factorial(study).to_markdown(self.published.study(study, "runs.csv")).rstrip()

    def effect(self, study: str, factor: str, level: str, measure: str) -> str:
        """What a level of a factor changes over all combinations of the others: ``59 % more``."""
        effects = self._factorial(study).effects(self.published.study(study, "runs.csv"))
        chosen = (effects["factor"] == factor) & (effects["level"] == level) & (effects["measure"] == measure)
        (row,) = effects[chosen].to_dict("records")
        return _changed(row["gap"] * _unit(MEASURES[measure]), MEASURES[measure].ratio)

    def cells_paired(self, study: str, measure: str, levels: list[str], others: list[str]) -> str:
        """A combination of levels against another, under the same seed: ``59 % more``."""
        ours, theirs = (self._cell(study, measure, tuple(one)) for one in (levels, others))
        of = MEASURES[measure]
        return _changed(_paired(ours, theirs, of.ratio, of.factor).mean, of.ratio)

    def _judged(self, study: str, selector: str, other: str) -> Iterator[_Judged]:
        """What the rule looks at in each cell."""
        settings, rows = self._worlds(study)
        suite = settings.benchmark
        for (world, labels), cell in rows.groupby(["world", "labels"], sort=False):
            ours, theirs = (cell[cell["selector"] == name].set_index("seed") for name in (selector, other))
            budget, n_rounds, accuracy = (
                _paired(ours[column], theirs[column], column != "accuracy", 100)
                for column in ("spent_max", "n_rounds", "accuracy")
            )
            names = suite.worlds[str(world)].title, suite.labels[str(labels)]
            yield _Judged(*names, budget, n_rounds, accuracy)

    def _worlds(self, study: str) -> tuple[Worlds, pd.DataFrame]:
        found: Worlds = self.published.studies.of_kind("worlds")[study]
        return found, self.published.study(study, "runs.csv")

    def _factorial(self, study: str) -> Factorial:
        found: Factorial = self.published.studies.of_kind("factorial")[study]
        return found

    def _compared(
        self, study: str, world: str, labels: str, measure: str, selector: str, other: str
    ) -> tuple[dict[Any, Any], Measure]:
        own, measured = self._all_compared(study, measure, selector, other, labels)
        (row,) = own[own["world"] == world].to_dict("records")
        return row, measured

    def _all_compared(
        self, study: str, measure: str, selector: str, other: str, labels: str = ""
    ) -> tuple[pd.DataFrame, Measure]:
        """The rows of `compare` of a selector against another; Holm's correction is over all selectors."""
        settings, rows = self._worlds(study)
        suite: Suite = settings.benchmark
        if (study, other) not in self._compared_with:
            self._compared_with[study, other] = compare(rows, suite, other)
        table = self._compared_with[study, other]
        own = table[(table["measure"] == measure) & (table["selector"] == selector)]
        return (own[own["labels"] == labels] if labels else own), measures_of(suite)[measure]

    def _by_seed(self, study: str, world: str, labels: str, column: str, selector: str) -> pd.Series:
        _, rows = self._worlds(study)
        chosen = (rows["world"] == world) & (rows["labels"] == labels) & (rows["selector"] == selector)
        return rows[chosen].set_index("seed")[column].astype(float)

    def _cell(self, study: str, measure: str, levels: tuple[str, ...]) -> pd.Series:
        settings = self._factorial(study)
        runs = settings.with_levels(self.published.study(study, "runs.csv"))
        for name, level in zip(settings.factors, levels, strict=True):
            runs = runs[runs[name] == level]
        if runs.empty:
            raise KeyError(levels)
        return runs.set_index("seed")[measure].astype(float)


def _kept(text: str, kept: bool) -> str:
    """A number that keeps a condition, or one in italics that misses it."""
    return text if kept else f"*{text}*"


def _form(ratio: bool) -> str:
    """How a gap is written: a ratio, or a difference with its sign."""
    return ".2f" if ratio else "+.1f"


def _unit(measured: Measure | Measured) -> float:
    """What a gap is multiplied by where it is written: a ratio stays."""
    return 1.0 if measured.ratio else measured.factor


def _gap(row: Mapping[Any, Any] | pd.Series, measured: Measure | Measured) -> str:
    """A gap in a row of a table with its interval: ``0.63 (0.61 to 0.65)``."""
    gap, low, high = (_unit(measured) * row[key] for key in ("gap", "low", "high"))
    return with_interval(gap, low, high, _form(measured.ratio))


def _changed(gap: float, ratio: bool) -> str:
    """A ratio, or a difference in points, with its direction: ``59 % more``, ``1.4 points higher``."""
    return change(gap) if ratio else f"{abs(gap):.1f} points {'lower' if gap < 0 else 'higher'}"


def _paired(ours: pd.Series, theirs: pd.Series, ratio: bool, unit: float) -> Estimate:
    """The gap of values by seed, with its interval: a ratio of geometric means, or a difference in a unit."""
    if ratio:
        return Estimate(*np.exp(estimate(np.log((ours / theirs).dropna()))))
    return estimate(unit * (ours - theirs))
