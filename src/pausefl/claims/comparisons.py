"""The result of one comparison of a claim test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pausefl.claims.statistics import NOT_RUN, UNDECIDED, Judgement
from pausefl.results.intervals import Estimate

#: Unit of a gap that is a ratio.
RATIO = "ratio"

#: Kind, place, question and wanted region of a comparison.
Head = tuple[str, str, str, str]


@dataclass(frozen=True)
class Comparison:
    """One comparison and its outcome.

    Attributes
    ----------
    kind
        Kind of the test.
    where
        Scenario or study; empty for random instances.
    question
        What is compared: names of selectors and quantities.
    wanted
        Where the gap should lie.
    outcome
        ``holds``, ``fails``, ``undecided`` or ``not run``.
    gap, low, high
        The measured gap and its interval; NaN if there is none.
    unit
        ``ratio``, ``points``, ``exponent`` or the unit of a difference.
    bound
        ``at most`` or ``at least`` if the gap is only bounded, because a run ended too early.
    p
        Twice the p-value of the outcome's side (`pausefl.claims.statistics`); NaN where nothing is estimated.
    measure
        What is measured, without names of selectors and scenarios.
    seeds
        Seeds of the runs; empty for studies without seeds and random instances.
    runs
        Names of the runs, or the study.
    n_missing
        Number of planned runs or seeds that are missing.
    note
        What else a reader should know.
    repeats
        The comparison whose runs these are, under other names; then this one has no vote.
    prints
        By side and seed, a hash of what the runs did; not written to files.
    """

    kind: str
    where: str
    question: str
    wanted: str
    outcome: str
    gap: float = math.nan
    low: float = math.nan
    high: float = math.nan
    unit: str = ""
    bound: str = ""
    p: float = math.nan
    measure: str = ""
    seeds: tuple[int, ...] = ()
    runs: tuple[str, ...] = ()
    n_missing: int = 0
    note: str = ""
    repeats: str = ""
    prints: Mapping[tuple[str, int], str] = field(default_factory=dict, repr=False)

    @property
    def made(self) -> bool:
        """Whether it was made."""
        return self.outcome != NOT_RUN

    @property
    def distinct(self) -> bool:
        """Whether it was made and repeats no other."""
        return self.made and not self.repeats

    @property
    def of_one_seed(self) -> bool:
        """Whether nothing can be estimated from it, because it has one seed."""
        return self.outcome == UNDECIDED and len(self.seeds) == 1

    @property
    def part(self) -> tuple[str, str, str]:
        """The part of its claim that it tests: kind, what is measured, and where the gap should lie."""
        return self.kind, self.question.partition(":")[0], self.wanted

    @property
    def name(self) -> str:
        """What tells it from the others of its claim."""
        return f"{self.where}: {self.question}" if self.where else self.question


def not_run(kind: str, where: str, question: str, wanted: str, note: str) -> Comparison:
    """A comparison that could not be made; ``note`` says why."""
    return Comparison(kind, where, question, wanted, NOT_RUN, note=note)


def joined(*notes: str) -> str:
    """Notes as one text, without empty ones."""
    return "; ".join(filter(None, notes))


def in_units(found: Estimate, gap: str) -> tuple[float, float, float]:
    """Mean, low and high; as ratios if they are logarithms of ratios."""
    values = (found.mean, found.low, found.high)
    return (math.exp(values[0]), math.exp(values[1]), math.exp(values[2])) if gap == RATIO else values


def decided(head: Head, judged: Judgement, gap: str = "difference", **fields: Any) -> Comparison:
    """A comparison with the outcome, gap, interval and p-value of a judgement."""
    measured, low, high = in_units(judged.found, gap)
    return Comparison(*head, judged.outcome, measured, low, high, bound=judged.bound, p=judged.p, **fields)


def wanted_text(low: float, high: float, gap: str) -> str:
    """The open interval of `pausefl.claims.statistics.region` in words."""
    if gap == RATIO:
        low, high = math.exp(low) if low > -math.inf else low, math.exp(high) if high < math.inf else high
    low, high = low + 0.0, high + 0.0  # no minus zero
    if low == -math.inf:
        return f"{gap} < {high:.3g}"
    return f"{gap} > {low:.3g}" if high == math.inf else f"{gap} from {low:.3g} to {high:.3g}"
