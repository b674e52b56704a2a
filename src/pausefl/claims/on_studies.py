"""Kinds of claim tests on studies of selection: laws of growth, ends of regret, shares of races."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Strict

from pausefl.claims.base import Against, Margin, Selectors
from pausefl.claims.comparisons import RATIO, Comparison, NotRunError, wanted_text
from pausefl.claims.records import Records
from pausefl.claims.statistics import (
    FAILS,
    HOLDS,
    ROUNDING,
    Floats,
    Judgement,
    gaps,
    judge,
    judge_share,
    judge_slope,
    region,
)
from pausefl.registry.selectors import LABELS
from pausefl.settings.scenario import Scale
from pausefl.settings.types import Distinct, NonNegative, OneOf, Positive, Real


class OnStudies(Selectors):
    """A test on the tables of studies."""

    studies: dict[Scale, Distinct[str]]
    """Studies that are read, by scale."""

    def studies_at(self, scale: str) -> tuple[str, ...]:
        """All studies that the test needs at a scale."""
        return self.studies.get(scale, ())

    def _asks(self) -> tuple[str, str, tuple[float, float]]:
        """What is asked of a selector; where the gap should lie, in words and as limits."""
        raise NotImplementedError

    def _who(self) -> Iterable[tuple[str, ...]]:
        """Each selector, and what it is compared with."""
        return product(self.selectors)

    def _questions(self, records: Records, group: str) -> Iterator[Comparison]:
        topic, wanted, limits = self._asks()
        for study, names in product(self.studies[group], self._who()):
            who, sides = " against ".join(LABELS[name] for name in names), product([study], names)
            yield Comparison(self.kind, study, topic, who, wanted, sides=tuple(sides), limits=limits)


def _tables(records: Records, study: str, *files: str) -> list[pd.DataFrame]:
    """Tables of a study; `NotRunError` without one of them."""
    tables = [records.study(study, file) for file in files]
    found = [table for table in tables if table is not None]
    if len(found) < len(files):
        raise NotRunError("the study is not configured, or is missing")
    return found


def _of_seeds(table: pd.DataFrame, selector: str) -> pd.DataFrame:
    """Rows of a selector's seeds, without those of the mean curve."""
    from pausefl.studies.regret import MEAN

    return table[(table["selector"] == selector) & (table["seed"].astype(str) != MEAN)]


def _facts(records: Records, asked: Comparison, seeds: Iterable[Any] = ()) -> dict[str, Any]:
    """Seeds, name and prints of a study, as a `Comparison` has them.

    Prints are hashes of the simulated times of each run: equal selections have equal times.
    """
    seeds, prints = tuple(int(seed) for seed in seeds), {}
    for (side, (study, selector)), seed in product(enumerate(asked.sides), seeds):
        configured = records.studies.get(study)
        kept = configured is not None and "runs.parquet" in configured.claims
        table = records.study(study, "runs.parquet") if kept else None
        if table is not None:
            own = table[(table["selector"] == selector) & (table["seed"] == seed)]
            times = np.ascontiguousarray(own["elapsed_s"].to_numpy(np.float64)).tobytes()
            prints[side, seed] = hashlib.sha256(times).hexdigest()
    return {"seeds": seeds, "runs": (f"study {asked.where}",), "prints": prints}


class OfGrowth(OnStudies, Margin):
    """A test of how something grows."""

    law: str
    """Law of growth: `logarithmic` or `linear` of regret; `power`, `linearithmic` (as a sort of K numbers),
    `at most linearithmic` or `exponential` of time."""


class Regret(OfGrowth):
    """A logarithm fits regret as well as the best other law; or its last decade's exponent is (at least) 1.

    The margin is that of the ratio of errors, seed by seed, or that of the exponent.
    """

    kind: Literal["regret"]
    law: Annotated[str, OneOf(("logarithmic", "linear", "at least linear"))]

    def _asks(self) -> tuple[str, str, tuple[float, float]]:
        if self.law == "logarithmic":
            limits = region("not higher", self.margin, RATIO)
            topic = "fit of a logarithm to regret, error against the best other law"
            return topic, wanted_text(*limits, RATIO), limits
        limits = 1 - self.margin, 1 + self.margin if self.law == "linear" else math.inf
        return "exponent of regret", wanted_text(*limits, "exponent"), limits

    def _answers(self, records: Records, asked: Comparison) -> Iterator[Comparison]:
        ((study, selector),) = asked.sides
        tables = _tables(records, study, "fits.csv", "growth.csv")
        laws, growth = (_of_seeds(table, selector) for table in tables)
        if not len(growth):
            raise NotRunError(f"{LABELS[selector]} is not in the study")
        facts = _facts(records, asked, growth["seed"])
        best = laws[laws["preferred"]]["law"].value_counts().items()
        note = "laws that fit best, in seeds: " + ", ".join(f"{n} {law}" for law, n in best)
        exponents = growth["exponent"].to_numpy(np.float64)
        if self.law != "logarithmic":
            yield asked.decided(judge(exponents, *asked.limits), note=note, **facts)
            return
        note = f"mean exponent over the last decade of rounds {exponents.mean():.2f}; {note}"
        judged = judge(_error_ratios(laws, facts["seeds"]), *asked.limits)
        yield asked.decided(judged, True, measure="error of a logarithm's fit", note=note, **facts)


def _error_ratios(laws: pd.DataFrame, seeds: Iterable[int]) -> Floats:
    """Log of the least error of a law up to a logarithm over the least error of all others, for each seed."""
    slow = laws["law"].isin(("constant", "logarithmic"))
    least = (rows.groupby(rows["seed"].astype(int))["error"].min() for rows in (laws[slow], laws[~slow]))
    ours, theirs = (np.log(np.maximum(errors.loc[list(seeds)].to_numpy(), ROUNDING)) for errors in least)
    return np.asarray(ours - theirs)


class FinalRegret(OnStudies, Against, Margin):
    """Regret ends lower than that of other selectors, by more than the margin as a ratio."""

    kind: Literal["final_regret"]

    def _asks(self) -> tuple[str, str, tuple[float, float]]:
        limits = region("lower", self.margin, RATIO)
        return "final regret", wanted_text(*limits, RATIO), limits

    def _who(self) -> Iterable[tuple[str, ...]]:
        return product(self.selectors, self.against)

    def _answers(self, records: Records, asked: Comparison) -> Iterator[Comparison]:
        (growth,) = _tables(records, asked.where, "growth.csv")
        ours, theirs = (_of_seeds(growth, name).set_index("seed")["regret"] for _, name in asked.sides)
        both = ours.index.intersection(theirs.index)
        if not len(both):
            raise NotRunError("the study lacks one of the two")
        judged = judge(gaps(ours[both], theirs[both], RATIO), *asked.limits)
        yield asked.decided(judged, True, **_facts(records, asked, both))


class _Law(NamedTuple):
    words: str
    slope: str
    """Column of `pausefl.studies.runtime.fits`."""
    measure: str
    """What the slope is."""
    unit: str = ""


_OVER_SORT = "over_sort", "exponent of time over that of a sort"

#: How a time is to grow.
_LAWS = {
    "power": _Law("as K to the power {exponent:g}", "exponent", "exponent of time"),
    "linearithmic": _Law("as K log K", *_OVER_SORT),
    "at most linearithmic": _Law("at most as K log K", *_OVER_SORT),
    "exponential": _Law("exponentially", "rate", "growth of ln(time)", "a user"),
}

#: What is timed.
_TIMED = {"selection": "a selection's time", "listing": "the time of an iteration that lists all neighbours"}


class Cost(OfGrowth):
    """A time grows exponentially in K, as K log K (or at most so), or as a power of K, within the margin.

    A power or an exponential, whichever has the smaller error in ln t. The interval is that of its slope.
    K log K has the slope of a sort of as many numbers.
    """

    kind: Literal["cost"]
    law: Annotated[str, OneOf(_LAWS)]
    quantity: Annotated[str, OneOf(_TIMED)] = "selection"
    """Which time: of a `selection`, or of an annealer's iteration that is `listing` all neighbours."""
    exponent: Positive = 1.0
    """Power of K by which a search's time is to grow."""
    margin: NonNegative = 0.0

    def _asks(self) -> tuple[str, str, tuple[float, float]]:
        middle = self.exponent if self.law == "power" else 0.0
        low = -math.inf if self.law == "at most linearithmic" else middle - self.margin
        wanted = _LAWS[self.law].words.format(exponent=self.exponent)
        return f"growth with K of {_TIMED[self.quantity]}", wanted, (low, middle + self.margin)

    def _answers(self, records: Records, asked: Comparison) -> Iterator[Comparison]:
        from pausefl.studies.runtime import QUANTITIES, fits

        ((study, selector),) = asked.sides
        (times,) = _tables(records, study, "times.csv")
        times = times[times["selector"] == selector]
        fitted = fits(times)
        fitted = fitted[fitted["quantity"] == self.quantity]
        if not len(fitted):
            raise NotRunError(f"fewer than three sizes with {_TIMED[self.quantity]}")
        fit, sizes = fitted.iloc[0], times[times[QUANTITIES[self.quantity]].notna()]["n_users"]
        n_sizes = int(sizes.between(fit["from_users"], fit["to_users"]).sum())
        is_power = fit["exponent_error"] <= fit["rate_error"]
        better = "a power" if is_power else "an exponential"
        note = f"K from {fit['from_users']:,} to {fit['to_users']:,}, {n_sizes} sizes; {better} fits better"
        law, (low, high) = _LAWS[self.law], asked.limits
        if math.isnan(error := float(fit[f"{law.slope}_se"])):
            raise NotRunError("no sort of as many numbers was timed")
        judged = judge_slope(float(fit[law.slope]), error, n_sizes - 2, low, high)
        if self.law == "exponential":
            judged = Judgement(FAILS if is_power else HOLDS, judged.found)
        else:
            note = f"wanted: {'up to' if low == -math.inf else f'{low:.3g} to'} {high:.3g}; {note}"
            judged = judged if is_power else Judgement(FAILS, judged.found)
        facts = {"unit": law.unit, "measure": law.measure, "note": note} | _facts(records, asked)
        yield asked.decided(judged, **facts)


#: Columns of a table of shares that say which comparison a row is, and how they are told.
_CELL = {
    "source": "instances {}",
    "n_users": "K = {}",
    "n_selected": "m = {}",
    "temperature_divisor": "κ = {}",
    "moves": "{} moves",
    "budget": "equal {}",
    "energy": "{} vertex",
}


class Share(OnStudies):
    """Wilson's interval of the share of won instances lies above a given share, in each row of the study."""

    kind: Literal["share"]
    at_least: Annotated[float, Real(ge=0, le=1)]
    """Least share of instances."""
    rows: dict[str, tuple[str | int | float, ...]] = {}
    """Rows of a study's table of shares that are used: columns, and the values that they may have."""
    pool: Distinct[Annotated[str, Strict()]] = ()
    """Columns of that table over whose values the instances are counted together."""

    def _asks(self) -> tuple[str, str, tuple[float, float]]:
        divisors = self.rows.get("temperature_divisor", ())
        topic = f"share won, κ = {divisors[0]}" if len(divisors) == 1 else "share won"
        return topic, f"share ≥ {self.at_least:g}", (self.at_least, 1.0)

    def _answers(self, records: Records, asked: Comparison) -> Iterator[Comparison]:
        ((study, selector),) = asked.sides
        configured = records.studies.get(study)
        (table,) = _tables(records, study, "" if configured is None else configured.claims[0])
        table = table[table["selector"] == selector]
        for column, values in self.rows.items():
            known = table[column].astype(str) if column in table else pd.Series("", table.index)
            table = table[known.isin([str(value) for value in values])]
        if not len(table):
            raise NotRunError(f"the study has no such rows of {LABELS[selector]}")
        told = {*self.pool, *(column for column, values in self.rows.items() if len(values) == 1)}
        cell = [column for column in _CELL if column in table and column not in told]
        for names, rows in table.groupby(cell or ["selector"], sort=False):
            cells = [_CELL[column].format(name) for column, name in zip(cell, names, strict=False)]
            n, won, tied, lost = rows[["n_instances", "n_won", "n_tied", "n_lost"]].sum().astype(int)
            row = replace(asked, who=f"{asked.who}, {', '.join(cells) or 'in all'}")
            note = f"of {n:,} instances {won:,} are won, {tied:,} tied, {lost:,} lost"
            facts = {"unit": "of instances", "note": note} | _facts(records, asked)
            yield row.decided(judge_share(won, n, self.at_least), **facts)


OnStudiesTest = Regret | FinalRegret | Cost | Share
