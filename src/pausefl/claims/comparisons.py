"""The result of one comparison of a claim test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec

from pausefl.claims.statistics import NOT_RUN, UNDECIDED, Judgement

#: Unit of a gap that is a ratio.
RATIO = "ratio"

#: Kind, place, question and wanted region of a comparison.
Head = tuple[str, str, str, str]

P = ParamSpec("P")


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


class NotRunError(Exception):
    """Why a comparison cannot be made."""


def tried(
    head: Head,
    compare: Callable[Concatenate[Head, P], Comparison],
    *arguments: P.args,
    **keywords: P.kwargs,
) -> Comparison:
    """The comparison that ``compare`` returns; ``not run``, with the reason, if it raises `NotRunError`."""
    try:
        return compare(head, *arguments, **keywords)
    except NotRunError as why:
        return Comparison(*head, NOT_RUN, note=str(why))


def joined(*notes: str) -> str:
    """Notes as one text, without empty ones."""
    return "; ".join(filter(None, notes))


def decided(head: Head, judged: Judgement, gap: str = "difference", **fields: Any) -> Comparison:
    """A comparison with the outcome, gap, interval and p-value of a judgement.

    ``gap`` is ``ratio`` where logarithms of ratios were judged. What is measured is the question's beginning
    unless ``measure`` is given.
    """
    values = judged.found.mean, judged.found.low, judged.found.high
    mean, low, high = map(math.exp, values) if gap == RATIO else values
    fields = {"unit": RATIO if gap == RATIO else "", "measure": head[2].partition(":")[0]} | fields
    return Comparison(*head, judged.outcome, mean, low, high, bound=judged.bound, p=judged.p, **fields)


def wanted_text(low: float, high: float, gap: str) -> str:
    """The open interval of `pausefl.claims.statistics.region` in words."""
    if gap == RATIO:
        low, high = math.exp(low) if low > -math.inf else low, math.exp(high) if high < math.inf else high
    low, high = low + 0.0, high + 0.0  # no minus zero
    if low == -math.inf:
        return f"{gap} < {high:.3g}"
    return f"{gap} > {low:.3g}" if high == math.inf else f"{gap} from {low:.3g} to {high:.3g}"
