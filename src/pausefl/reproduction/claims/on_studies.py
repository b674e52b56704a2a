"""Kinds of claim tests on studies of selection: laws of growth, ends of regret, shares of races."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from pausefl.analysis.statistics import (
    FAILS,
    HOLDS,
    ROUNDING,
    Decision,
    gaps,
    judge,
    judge_share,
    judge_slope,
    region,
)
from pausefl.reproduction.claims.base import Against, ClaimTest, Margin
from pausefl.reproduction.claims.comparison_result import RATIO, Comparison, joined_notes, wanted_text
from pausefl.reproduction.claims.records import Records
from pausefl.schema.types import Distinct, OneOf, Positive, Real
from pausefl.selectors import LABELS
from pausefl.settings.scenario import Scale

#: Why nothing is compared.
_ABSENT = "the study lacks what is compared, or is missing"

Law = Annotated[
    str,
    Field(
        description="Law of growth: `logarithmic`, `linear` or `at least linear` of regret; `power`,"
        " `at most linearithmic` (as a sort of K numbers) or `exponential` of time."
    ),
]


class StudyTest(ClaimTest):
    """A test on the tables of studies."""

    studies: dict[Scale, Distinct[str]]
    """Studies that are read, by scale."""

    def studies_at(self, scale: str) -> tuple[str, ...]:
        """All studies that the test needs at a scale."""
        return self.studies.get(scale, ())

    def compare(self, records: Records, group: str) -> Iterator[Comparison]:
        """Yield the comparisons of each study and selector."""
        for study, selector in product(self.studies[group], self.selectors):
            yield from self.compare_in(records, study, selector)

    def compare_in(self, records: Records, study: str, selector: str) -> Iterator[Comparison]:
        """Yield the comparisons of a selector in a study."""
        raise NotImplementedError


def _of_seeds(records: Records, study: str, file: str, selector: str) -> pd.DataFrame:
    """Rows of a selector's seeds in a table of a study of regret, without those of the mean curve."""
    from pausefl.reproduction.studies.regret import MEAN

    rows = records.rows(study, file, selector)
    return rows if rows.empty else rows[rows["seed"].astype(str) != MEAN].astype({"seed": int})


def _seeded(
    records: Records, asked: Comparison, selectors: Iterable[str], seeds: Iterable[int]
) -> Comparison:
    """The comparison with the runs of a study: prints hash their simulated times, which tell selections."""
    asked = replace(asked, seeds=tuple(int(seed) for seed in seeds), runs=(f"study {asked.where}",))
    if (table := records.study(asked.where, "runs.parquet")) is None:
        return asked
    prints = {}
    for (side, selector), seed in product(enumerate(selectors), asked.seeds):
        own = table[(table["selector"] == selector) & (table["seed"] == seed)]
        times = np.ascontiguousarray(own["elapsed_s"].to_numpy(np.float64)).tobytes()
        prints[side, seed] = hashlib.sha256(times).hexdigest()
    return replace(asked, prints=prints)


class Regret(StudyTest):
    """A logarithm fits regret as well as the best other law; or its last decade's exponent is (at least) 1.

    The margin is that of the ratio of errors, seed by seed, or that of the exponent.
    """

    kind: Literal["regret"]
    law: Annotated[Law, OneOf(("logarithmic", "linear", "at least linear"))]
    margin: Margin

    def compare_in(self, records: Records, study: str, selector: str) -> Iterator[Comparison]:
        """Yield the comparison of the fit of a logarithm with the best other, or of the exponent with 1."""
        topic, measure, unit = "exponent of regret", "exponent of regret", ""
        limits = 1 - self.margin, 1 + self.margin if self.law == "linear" else math.inf
        if self.law == "logarithmic":
            topic, unit = "fit of a logarithm to regret, error against the best other law", RATIO
            measure, limits = "error of a logarithm's fit", region("not higher", self.margin, ratio=True)
        wanted = wanted_text(*limits, unit or "exponent")
        asked = Comparison(self.kind, study, topic, LABELS[selector], wanted, unit=unit)
        fits, growth = (_of_seeds(records, study, file, selector) for file in ("fits.csv", "growth.csv"))
        if fits.empty or growth.empty:
            yield replace(asked, note=_ABSENT)
            return
        values = exponents = growth["exponent"].to_numpy(np.float64)
        best = fits[fits["preferred"]]["law"].value_counts().items()
        note = "laws that fit best, in seeds: " + ", ".join(f"{n} {law}" for law, n in best)
        if self.law == "logarithmic":  # the least error of a law up to a logarithm, over that of all others
            note = f"mean exponent over the last decade of rounds {exponents.mean():.2f}; {note}"
            slow = fits["law"].isin(("constant", "logarithmic"))
            errors = (
                rows.groupby("seed")["error"].min()[growth["seed"]] for rows in (fits[slow], fits[~slow])
            )
            ours, theirs = (np.log(np.maximum(each.to_numpy(), ROUNDING)) for each in errors)
            values = ours - theirs
        made = _seeded(records, asked, [selector], growth["seed"])
        yield made.decided(judge(values, *limits), measure=measure, note=note)


class FinalRegret(StudyTest):
    """Regret ends lower than that of other selectors, by more than the margin as a ratio."""

    kind: Literal["final_regret"]
    against: Against
    margin: Margin

    def compare_in(self, records: Records, study: str, selector: str) -> Iterator[Comparison]:
        """Yield the comparison with each of the others."""
        limits = region("lower", self.margin, ratio=True)
        for other in self.against:
            who, wanted = f"{LABELS[selector]} against {LABELS[other]}", wanted_text(*limits, RATIO)
            asked = Comparison(self.kind, study, "final regret", who, wanted, unit=RATIO)
            sides = selector, other
            tables = [_of_seeds(records, study, "growth.csv", name) for name in sides]
            if any(table.empty for table in tables):
                yield replace(asked, note=_ABSENT)
                continue
            ours, theirs = (table.set_index("seed")["regret"] for table in tables)
            both = list(ours.index.intersection(theirs.index))
            decision = judge(gaps(ours[both], theirs[both], ratio=True), *limits)
            yield _seeded(records, asked, sides, both).decided(decision)


#: How a time may grow: in words; the slope of `runtime.fits` that tells it; its name and unit.
_GROWTHS = {
    "power": ("as K to the power {exponent:g}", "exponent", "exponent of time", ""),
    "at most linearithmic": (
        "at most as K log K",
        "over_sort",
        "exponent of time over that of a sort",
        "",
    ),
    "exponential": ("exponentially", "rate", "growth of ln(time)", "a user"),
}

#: What is timed.
_TIMED = {"selection": "a selection's time", "listing": "the time of an iteration that lists all neighbours"}


class Cost(StudyTest):
    """A time grows exponentially in K, at most as K log K, or as a power of K, within the margin.

    A power or an exponential, whichever has the smaller error in ln t. The interval is that of its slope.
    K log K has the slope of a sort of as many numbers.
    """

    kind: Literal["cost"]
    law: Annotated[Law, OneOf(_GROWTHS)]
    quantity: Annotated[str, OneOf(_TIMED)] = "selection"
    """Which time: of a `selection`, or of an annealer's iteration that is `listing` all neighbours."""
    exponent: Positive = 1.0
    """Power of K by which a search's time is to grow."""
    margin: Margin = 0.0

    def compare_in(self, records: Records, study: str, selector: str) -> Iterator[Comparison]:
        """Yield the comparison of the time's growth with the law."""
        from pausefl.reproduction.studies.runtime import fits

        words, column, measure, unit = _GROWTHS[self.law]
        topic, wanted = f"growth with K of {_TIMED[self.quantity]}", words.format(exponent=self.exponent)
        asked = Comparison(self.kind, study, topic, LABELS[selector], wanted, unit=unit)
        times = records.rows(study, "times.csv", selector)
        fitted = times if times.empty else fits(times).query("quantity == @self.quantity")
        if fitted.empty or fitted[f"{column}_se"].isna().any():  # of a sort, if that was not timed
            yield replace(asked, note=_ABSENT)
            return
        fit = fitted.iloc[0]
        n_sizes = int(fit["n_sizes"])
        low, high, span = self._region()
        decision = judge_slope(float(fit[column]), float(fit[f"{column}_se"]), n_sizes - 2, low, high)
        is_power = fit["exponent_error"] <= fit["rate_error"]
        if is_power == (self.law == "exponential"):
            decision = Decision(FAILS, decision.gap)
        elif not is_power:  # no rate is wanted
            decision = Decision(HOLDS, decision.gap)
        better = "a power" if is_power else "an exponential"
        note = f"K from {fit['from_users']:,} to {fit['to_users']:,}, {n_sizes} sizes; {better} fits better"
        yield asked.decided(
            decision, runs=(f"study {study}",), measure=measure, note=joined_notes(span, note)
        )

    def _region(self) -> tuple[float, float, str]:
        """Where the slope should lie, and that in words; any slope of an exponential does."""
        if self.law == "exponential":
            return -math.inf, math.inf, ""
        if self.law == "power":
            low, high = self.exponent - self.margin, self.exponent + self.margin
            return low, high, f"wanted: {low:.3g} to {high:.3g}"
        return -math.inf, self.margin, f"wanted: up to {self.margin:.3g}"


#: How a row of a table of shares is told: by the values of these columns.
_CELL = {
    "source": "instances {}",
    "temperature_divisor": "κ = {}",
    "moves": "{} moves",
    "budget": "equal {}",
    "energy": "{} vertex",
}


class Share(StudyTest):
    """Wilson's interval of the share of won instances lies above a given share.

    Instances of all sizes count together, those of other settings of the study each by themselves.
    """

    kind: Literal["share"]
    at_least: Annotated[float, Real(ge=0, le=1)]
    """Least share of instances."""
    rows: dict[str, tuple[str | int | float, ...]] = {}
    """Rows of a study's table of shares that are used: columns, and the values that they may have."""

    def compare_in(self, records: Records, study: str, selector: str) -> Iterator[Comparison]:
        """Yield a comparison for each setting of the study."""
        divisors = self.rows.get("temperature_divisor", ())
        topic = f"share won, κ = {divisors[0]}" if len(divisors) == 1 else "share won"
        asked = Comparison(
            self.kind, study, topic, LABELS[selector], f"share ≥ {self.at_least:g}", unit="of instances"
        )
        table = records.rows(study, "shares.csv", selector)
        for column, values in self.rows.items():
            known = table[column].astype(str) if column in table else pd.Series("", table.index)
            table = table[known.isin([str(value) for value in values])]
        if table.empty:
            yield replace(asked, note=_ABSENT)
            return
        told = [column for column in _CELL if column in table and len(self.rows.get(column, ())) != 1]
        for names, rows in table.groupby(told or ["selector"], sort=False):
            cells = [_CELL[column].format(name) for column, name in zip(told, names, strict=False)]
            n, won, tied, lost = rows[["n_instances", "n_won", "n_tied", "n_lost"]].sum().astype(int)
            made = replace(asked, who=f"{asked.who}, {', '.join(cells) or 'in all'}")
            note = f"of {n:,} instances {won:,} are won, {tied:,} tied, {lost:,} lost"
            yield made.decided(judge_share(won, n, self.at_least), runs=(f"study {study}",), note=note)


StudyTests = Regret | FinalRegret | Cost | Share
