"""Named numbers of the published runs, and the places of pages that they fill.

``docs/numbers.yaml`` has the numbers: a name, the method of `Numbers` that makes it, and what that is asked.
The workflow's rule ``numbers`` writes them to ``results/numbers.csv``, and ``{{name}}`` in a page of
``docs/templates`` is the place of one.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pausefl.analysis import markdown
from pausefl.analysis.formats import change, in_points, in_words, number, span
from pausefl.analysis.intervals import estimate
from pausefl.analysis.measures import FRONT_SHARE, censored_median, in_name
from pausefl.analysis.outcomes import outcomes
from pausefl.analysis.paired import paired
from pausefl.analysis.trajectories import trajectories
from pausefl.errors import ConfigError, suggest
from pausefl.reproduction import accuracy_gap
from pausefl.reproduction.authors_archive import LOGGED, beside_ours, tally
from pausefl.reproduction.claims import headlines
from pausefl.reproduction.claims.comparison_result import RATIO, Comparison
from pausefl.reproduction.claims.formats import summary_line
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN, SETTINGS
from pausefl.reproduction.pages.published import Published
from pausefl.reproduction.pages.world_numbers import WorldNumbers
from pausefl.reproduction.studies import changes
from pausefl.reproduction.studies.benchmark import Benchmark
from pausefl.runs.run import rounds_of
from pausefl.selectors import SELECTORS
from pausefl.settings import load_scenario, read_yaml

#: The studies with runs longer than the papers'.
LONG_RUNS = {AS_WRITTEN: "mnist_knobs", AS_RUN: "mnist_long_as_run"}

#: Up to which distance from 1 two mean rounds count as equal.
CLOSE = 0.03


class Numbers(WorldNumbers):
    """Makers of numbers: of claims' comparisons, published runs and studies; each returns a text."""

    def __init__(self, published: Published) -> None:
        self.published, self.experiments = published, published.config.experiments
        self.verdicts = {(one.claim.id, one.reading): one for one in published.judged}

    def gap(self, claim: str, where: str, question: str, form: str = "") -> str:
        """The gap of a claim's comparison in a scenario or study.

        The question is such as ``time to the target: PAUSE against Random``. `KeyError` if there is none.
        """
        one = self._comparison(claim, where, question)
        return shown(one.gap, one.unit, form)

    def size(self, claim: str, where: str, question: str) -> str:
        """That gap with its direction: ``39 % less``."""
        one = self._comparison(claim, where, question)
        return headlines.size(one.gap, one.unit)

    def interval(self, claim: str, where: str, question: str, form: str = "") -> str:
        """The interval of that gap; a dash if it has none."""
        one = self._comparison(claim, where, question)
        if math.isnan(one.low):
            return "–"
        return f"{shown(one.low, one.unit, form)} to {shown(one.high, one.unit, form)}"

    def n_seeds(self, claim: str, where: str, question: str) -> str:
        """The number of seeds that it rests on."""
        return str(len(self._comparison(claim, where, question).seeds))

    def _comparison(self, claim: str, where: str, question: str) -> Comparison:
        reading = AS_RUN if where.endswith("_as_run") else AS_WRITTEN
        for one in self.verdicts[claim, reading].comparisons:
            if one.made and (one.where, one.question) == (where, question):
                return one
        raise KeyError(f"{claim}, {reading}: no comparison '{question}' in {where}")

    def gaps(
        self, claim: str, reading: str, topic: str, subject: str = "", where: str = "", outcome: str = ""
    ) -> str:
        """Least and greatest gap of comparisons, ``1.04 to 1.28``, some of which may be bounds.

        Of one topic if it is given; only those whose selectors begin with ``subject``, whose scenario has
        ``where`` in its name, and with an ``outcome``; ``holds alone`` and ``fails alone`` are those of
        comparisons tested alone, ``tested`` all of several seeds.
        """
        found = self._found(claim, reading, topic, subject, where, outcome)
        ends = sorted(found, key=lambda one: one.gap)
        return span(shown(one.gap, one.unit) for one in ends)

    def changes(self, claim: str, reading: str, topic: str, subject: str, where: str, outcome: str) -> str:
        """Those of `gaps`, which are ratios, with their direction: ``30 to 40 % less``."""
        return change(*(one.gap for one in self._found(claim, reading, topic, subject, where, outcome)))

    def log_changes(self, claim: str, topic: str, subject: str = "") -> str:
        """Least and greatest change in the authors' logs among comparisons as run, which are ratios."""
        found = self._found(claim, AS_RUN, topic, subject)
        return change(*(one.authors for one in found if not math.isnan(one.authors)))

    def count(
        self, claim: str, reading: str, topic: str = "", subject: str = "", where: str = "", outcome: str = ""
    ) -> str:
        """How many comparisons there are; arguments as in `gaps`."""
        return str(len(self._found(claim, reading, topic, subject, where, outcome)))

    def _found(
        self, claim: str, reading: str, topic: str = "", subject: str = "", where: str = "", outcome: str = ""
    ) -> list[Comparison]:
        """Comparisons of a claim that were made; arguments as in `gaps`."""
        return [
            one
            for one in self.verdicts[claim, reading].comparisons
            if one.made and topic in ("", one.topic) and one.who.startswith(subject) and where in one.where
            if outcome in ("", one.outcome)
            or (one.alone and outcome == f"{one.alone} alone")
            or (outcome == "tested" and len(one.seeds) > 1)
        ]

    def paired(self, scenario: str, metric: str, selector: str, other: str) -> str:
        """A gap of two selectors in the published runs, with its interval: ``1.02 times (0.89 to 1.16)``.

        ``selector`` stands before ``other`` in the order of legends, else `KeyError`.
        """
        row = self._pair(scenario, metric, selector, other)
        gap = f"{row['bound']} {shown(row['gap'], row['unit'])} ".lstrip()
        ends = f" ({shown(row['low'], row['unit'])} to {shown(row['high'], row['unit'])})"
        unit = "times" if row["unit"] == RATIO else row["unit"]
        return f"{gap}{unit}{'' if math.isnan(row['low']) else ends}"

    def ratio_change(self, scenario: str, metric: str, selector: str, other: str) -> str:
        """That gap, a ratio, with its direction: ``40 % less``; `KeyError` if only a bound is known."""
        row = self._pair(scenario, metric, selector, other)
        if row["bound"]:
            raise KeyError(f"{scenario}: {metric} of {selector} is a bound")
        return change(float(row["gap"]))

    def _pair(self, scenario: str, metric: str, selector: str, other: str) -> pd.Series:
        runs = [run for run in self.published.runs(scenario) if run.selector in (selector, other)]
        row = paired(runs, metric).iloc[0]
        if (row["selector"], row["against"]) != (selector, other):
            raise KeyError(f"{scenario}: no gap of {selector} to {other}, but the other way round")
        return row

    def behind(self, claim: str, reading: str, where: str) -> str:
        """Least and greatest lag, in whole points, in scenarios with ``where`` in their names."""
        found = self.verdicts[claim, reading].comparisons
        lags = sorted(-one.gap for one in found if one.made and where in one.where)
        return span(f"{lag:.0f}" for lag in lags)

    def log_cost(self, where: str) -> str:
        """PAUSE's accuracy minus FedAvg's without privacy, in points, in the authors' log of a scenario.

        As claims measure it; `KeyError` if the log does not tell.
        """
        question = "accuracy when the shorter run ends: PAUSE against FedAvg w/o privacy"
        one = self._comparison("C15", where, question)
        if math.isnan(one.authors):
            raise KeyError(f"{where}: the log lacks an accuracy")
        return shown(one.authors, "points")

    def finding(self, claim: str) -> str:
        """What was found on a claim, ``mixed with both settings``, or each finding with its settings."""
        found = {reading: one.finding for (name, reading), one in self.verdicts.items() if name == claim}
        if len(found) == 1:
            return found[AS_WRITTEN]
        if len(set(found.values())) == 1:
            return f"{found[AS_WRITTEN]} with both settings"
        told = (f"{finding} with {SETTINGS[reading]}" for reading, finding in found.items())
        return ", ".join(told)

    @property
    def close_rounds(self) -> str:
        """How many of the authors' runs that select have our mean round within 3 %: ``27 of 28``."""
        ratio = (self._mean_rounds["mean"] / self._mean_rounds["authors"]).dropna()
        return f"{((ratio - 1).abs() <= CLOSE).sum()} of {len(ratio)}"

    def tallied(self, *scenarios: str) -> str:
        """How many numbers of the authors' archived runs lie in our range, and how many were to be expected.

        In two cells of a table, ``64 of 68 | 56``.
        """
        return _cells(self._beside_ours(scenarios))

    @property
    def mean_rounds(self) -> str:
        """The same of the mean rounds in the logs of selectors that choose."""
        return _cells(self._mean_rounds)

    @cached_property
    def _mean_rounds(self) -> pd.DataFrame:
        table = self._beside_ours(dict.fromkeys(LOGGED.values()))
        facts = {name: SELECTORS[name] for name in table["selector"]}
        choose = [name for name, one in facts.items() if not (one.takes_everyone or one.fixed_users)]
        return table[table["selector"].isin(choose) & (table["quantity"] == "mean_round_s")]

    def shorter(self, scenario: str, selector: str) -> str:
        """By how many per cent our mean round is shorter than in the authors' log: ``5.5``.

        Over as many rounds as the log has; a mean of the mean rounds of seeds.
        """
        rows = self._beside_ours([scenario]).query("quantity == 'mean_round_s'")
        row = rows[rows["selector"] == selector].iloc[0]
        return f"{100 * (1 - float(row['mean']) / float(row['authors'])):.1f}"

    @property
    def accuracy_gaps(self) -> str:
        """The table of our accuracy minus the authors' on CIFAR-10 at the same rounds, in Markdown."""
        return accuracy_gap.to_markdown(self._same_rounds).rstrip()

    def accuracy_gap(self, n_users: int, low: int, high: int, whose: str = accuracy_gap.BOTH) -> str:
        """The gap with privacy of models whose accuracy is from ``low`` to ``high`` per cent: ``−0.5``."""
        return shown(accuracy_gap.over_bands(self._same_rounds, n_users, low, high, whose), "points")

    @cached_property
    def _same_rounds(self) -> pd.DataFrame:
        """Rounds on CIFAR-10 of the authors' logs and of the published runs."""
        of = self.published
        return accuracy_gap.on_cifar10(of.scenarios, lambda name: rounds_of(of.runs(name)))

    def _beside_ours(self, scenarios: Iterable[str]) -> pd.DataFrame:
        of, folder = self.published, self.published.scenarios
        return pd.concat(
            beside_ours(rounds_of(of.runs(name)), load_scenario(name, folder)) for name in scenarios
        )

    @cached_property
    def knobs(self) -> dict[Any, dict[Any, Any]]:
        """What `changes.compare` makes of the published `mnist_knobs`, by knob and value."""
        return changes.compare(self._curves).set_index(["knob", "value"]).to_dict("index")

    @cached_property
    def _curves(self) -> pd.DataFrame:
        return self.published.study(LONG_RUNS[AS_WRITTEN], "curves.parquet")

    def long_run(self, selector: str, reading: str = AS_WRITTEN) -> str:
        """Accuracy in per cent after 1,000 rounds on MNIST, a mean of seeds: ``54``."""
        curves = self.published.study(LONG_RUNS[reading], "curves.parquet")
        own = curves[(curves["knob"] == "training.n_rounds") & (curves["selector"] == selector)]
        return f"{100 * own.groupby('seed')['accuracy'].last().mean():.0f}"

    def long_run_meanwhile(self, selector: str, other: str, reading: str = AS_WRITTEN) -> str:
        """The same of a selector when another one's runs of that length end, under the same seed.

        Between the rounds that are kept, on a straight line.
        """
        curves = self.published.study(LONG_RUNS[reading], "curves.parquet")
        own = curves[curves["knob"] == "training.n_rounds"].groupby(["selector", "seed"])
        ends = own["elapsed_s"].last()[other]
        then = [
            np.interp(end, *own.get_group((selector, seed))[["elapsed_s", "accuracy"]].to_numpy().T)
            for seed, end in ends.items()
        ]
        return f"{100 * np.mean(then):.0f}"

    def knob(self, knob: str, value: str, measure: str = "difference_over_time") -> str:
        """PAUSE minus random selection with one setting changed: the gap and its interval, in points.

        In two cells of a table, ``11.3 | 6.3 to 16.3``.
        """
        row = self.knobs[knob, value]
        gap, low, high = (shown(100 * row[f"{measure}{end}"], "points") for end in ("", "_low", "_high"))
        return f"{gap} | {low} to {high}"

    def benchmark_change(self, study: str, metric: str, selector: str, other: str) -> str:
        """A metric of a selector against another's in a benchmark, means over seeds: ``37 % less``."""
        means = self._benchmark(study, metric)
        return change(float(means[selector] / means[other]))

    def benchmark_paired(self, study: str, measure: str, selector: str, other: str) -> str:
        """An accuracy of a selector less another's there, in points, paired over the seeds that have both.

        With its interval: ``−0.9 (−1.4 to −0.4)``.
        """
        values = self._runs(study).pivot(index="seed", columns="selector", values=measure)
        return in_points(*estimate((values[selector] - values[other]).dropna()))

    def benchmark_table(self, study: str, *selectors: str) -> str:
        """Rounds, time and budget of some selectors in a published benchmark; a Markdown table."""
        settings = self._benchmark_of(study)
        target = in_name(100 * settings.front_target)
        summary = settings.summary(self._runs(study)).set_index("selector")
        head = [
            "Selector",
            f"Rounds to {100 * settings.front_target:g} %",
            "Mean round (s)",
            f"Time to {100 * settings.front_target:g} % (s)",
            f"Accuracy at {settings.time_s:g} s (%)",
            "Largest budget spent (ε)",
            *(f"Accuracy at ε = {budget:g} (%)" for budget in settings.budgets),
        ]
        rows = []
        for name in selectors:
            row = summary.loc[name]
            at_budget = (
                f"{100 * row[f'{key}_mean']:.1f}" if row[f"{key}_n"] == row["n_seeds"] else "–"
                for key in (f"accuracy_at_{in_name(budget)}" for budget in settings.budgets)
            )
            rows.append(
                [
                    settings.names[name],
                    f"{row[f'rounds_to_{target}_median']:.0f}",
                    f"{row['mean_round_s_mean']:.2f}",
                    f"{row[f'seconds_to_{target}_median']:.0f}",
                    f"{100 * row['accuracy_mean']:.1f}",
                    f"{row['spent_max_mean']:.1f}",
                    *at_budget,
                ]
            )
        return markdown.table(head, rows, "lr").rstrip()

    def benchmark_time(self, study: str, selector: str, unit: str = "seconds") -> str:
        """Median seconds, or ``rounds``, of a selector to the target that decides on the front: ``22``."""
        settings = self._benchmark_of(study)
        runs = self._runs(study).set_index("selector").loc[selector]
        return f"{censored_median(runs[f'{unit}_to_{in_name(100 * settings.front_target)}']):.0f}"

    def benchmark_earlier(self, study: str, selector: str, other: str) -> str:
        """Under how many seeds a selector reaches that target before another: ``8 of 10``."""
        target = in_name(100 * self._benchmark_of(study).front_target)
        times = self._runs(study).pivot(index="seed", columns="selector", values=f"seconds_to_{target}")
        times = times.fillna(math.inf)
        return f"{(times[selector] < times[other]).sum()} of {len(times)}"

    def most_accurate_at(self, study: str, budget: float) -> str:
        """Ranked selectors of a benchmark that are most accurate when the largest budget spent is given.

        Of those that get so far under every seed: ``CS-UCB 85.2 %, TiFL (uniform) 84.0 %``, three of them.
        """
        settings, key = self._benchmark_of(study), f"accuracy_at_{in_name(budget)}"
        summary = settings.summary(self._runs(study))
        known = summary[(summary[f"{key}_n"] == summary["n_seeds"]) & summary["front"].notna()]
        best = known.sort_values(f"{key}_mean", ascending=False)[:3]
        return ", ".join(
            f"{settings.names[row['selector']]} {100 * row[f'{key}_mean']:.1f} %"
            for row in best.to_dict("records")
        )

    def front(self, study: str) -> str:
        """Selectors on the front of a published benchmark: ``PAUSE, CS-UCB and TiFL (uniform)``."""
        settings = self._benchmark_of(study)
        summary = settings.summary(self._runs(study))
        names = [settings.names[one] for one in summary["selector"][summary["front"] >= FRONT_SHARE]]
        return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or "nobody"

    def falls(self, scenario: str, *selectors: str) -> str:
        """How far accuracies end below their best in seeds where all do so by 10 points.

        ``21 to 45 points in three of five seeds``, those that all selectors have.
        """
        lost: dict[int, list[float]] = {}
        for (selector, seed), run in trajectories(rounds_of(self.published.runs(scenario))).items():
            if selector in selectors:
                fallen = 100 * float(run.outcome["best_accuracy"] - run.outcome["final_accuracy"])
                lost.setdefault(seed, []).append(fallen)
        complete = [own for own in lost.values() if len(own) == len(selectors)]
        fell = [own for own in complete if min(own) > 10]
        points = span(f"{one:.0f}" for one in sorted(one for own in fell for one in own))
        return f"{points} points in {in_words(len(fell))} of {in_words(len(complete))} seeds"

    def benchmark_slow_share(self, study: str, selector: str) -> str:
        """Share of participations by the slower half of the clients there, a mean over seeds: ``40 %``."""
        return f"{100 * float(self._benchmark(study, 'slow_share')[selector]):.0f} %"

    def benchmark_points(self, study: str, selector: str, other: str) -> str:
        """By how many points of accuracy a selector is below another there, means over seeds: ``0.9``."""
        means = self._benchmark(study, "accuracy")
        return shown(100 * float(means[other] - means[selector]), "points")

    def _benchmark(self, study: str, metric: str) -> pd.Series:
        """Mean over seeds by selector."""
        return self._runs(study).groupby("selector")[metric].mean()

    def _runs(self, study: str) -> pd.DataFrame:
        return self.published.study(study, "runs.csv")

    def _benchmark_of(self, study: str) -> Benchmark:
        found: Benchmark = self.published.studies.of_kind("benchmark")[study]
        return found

    def rounds_made(self, scenario: str, selector: str) -> str:
        """Rounds of the published runs of a selector, a mean of seeds: ``295``."""
        lengths = [len(run.rounds) for run in self.published.runs(scenario) if run.selector == selector]
        return f"{sum(lengths) / len(lengths):.0f}"

    def final_accuracy(self, scenario: str, *selectors: str, form: str = ".1f") -> str:
        """Accuracy in per cent at the end of the published runs, a mean of seeds: ``64.3``.

        Of several selectors the least and the greatest.
        """
        return span(
            f"{100 * one:{form}}" for one in sorted(self._metrics(scenario, selectors, "final_accuracy"))
        )

    def final_accuracy_gaps(self, selector: str, between: list[str], rows: dict[str, list[str]]) -> str:
        """Accuracy at the end of a selector in pairs of scenarios, second less first; a Markdown table.

        ``between`` has the titles of the two, and ``rows`` the names of two scenarios by the title of a row.
        Of each pair the seeds count that both have, and give the interval.
        """
        cells = []
        for title, scenarios in rows.items():
            ends = [self._ends(scenario, selector) for scenario in scenarios]
            first, second = pd.concat(ends, axis=1, join="inner").T.to_numpy()
            means = (f"{100 * one.mean():.1f}" for one in (first, second))
            cells.append([title, str(len(first)), *means, in_points(*estimate(second - first))])
        head = ["", "Seeds", *(f"{title} (%)" for title in between), "Difference (points)"]
        return markdown.table(head, cells, "lr").rstrip()

    def _ends(self, scenario: str, selector: str) -> pd.Series:
        """Accuracy at the end of the published runs of a selector, by seed."""
        runs = [run for run in self.published.all_runs(scenario) if run.selector == selector]
        found = outcomes(rounds_of(runs), target=math.nan)
        return pd.Series({run.seed: ends["final_accuracy"] for run, ends in found.items()})

    def _metrics(self, scenario: str, selectors: Iterable[str], name: str) -> list[float]:
        """One of the metrics of a scenario that DVC compares, of each selector."""
        folder = self.published.root / "results/metrics" / scenario
        return [json.loads((folder / f"{one}.json").read_text("utf-8"))[name] for one in selectors]

    @property
    def headlines(self) -> str:
        """The comparisons that open the pages, as a table in Markdown."""
        return self.published.headlines

    @property
    def verdict_counts(self) -> str:
        """How many claims have each verdict as written: ``2 supported, 5 mixed``."""
        return summary_line(self.verdicts.values())

    @property
    def n_runs(self) -> int:
        """Number of published runs that count."""
        return len(self.experiments)

    def seeds(self, start: str, *selectors: str) -> str:
        """Least and greatest number of seeds of scenarios whose names begin so: ``one to five``."""
        counts = Counter(
            (one.scenario, one.selector)
            for one in self.experiments
            if one.scenario.startswith(start) and (not selectors or one.selector in selectors)
        )
        return span(in_words(n) for n in sorted(counts.values()))


def evaluate(published: Published, file: Path) -> dict[str, str]:
    """The numbers that a file lists, by name, as pages have them.

    Raises
    ------
    ConfigError
        If a number is asked for in a way that `Numbers` does not know, or there is none; it is named.
    """
    makers, values = Numbers(published), {}
    for name, (method, *asked) in read_yaml(file).items():
        named = asked.pop() if asked and isinstance(asked[-1], dict) else {}
        try:
            maker = getattr(makers, method)
            values[name] = str(maker(*asked, **named) if callable(maker) else maker)
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise ConfigError(f"{file}: {name} cannot be made: {error!r}") from None
    return values


def filled(page: str, values: Mapping[str, str]) -> str:
    """A page with each ``{{name}}`` replaced; `ConfigError` names the nearest number if there is none."""

    def value(place: re.Match[str]) -> str:
        if place[1] not in values:
            raise ConfigError(f"there is no number '{place[1]}'. {suggest(place[1], values)}")
        return values[place[1]]

    return re.sub(r"\{\{(\w+)\}\}", value, page)


def _cells(table: pd.DataFrame) -> str:
    """What `tally` says of a table, in two cells."""
    inside, marked, expected = tally(table)
    return f"{inside} of {marked} | {expected:.0f}"


def shown(value: float, unit: str, form: str = "") -> str:
    """A gap as pages have it: ratios with two digits, anything else with one, or more where that is 0."""
    form = form or (".2f" if unit == RATIO or 0 < abs(value) < 0.05 else ".1f")
    return number(value, form)
