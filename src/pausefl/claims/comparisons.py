"""The result of one comparison of a claim test."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED, Judgement
from pausefl.results.markdown import number

#: Unit of a gap that is a ratio.
RATIO = "ratio"


@dataclass(frozen=True)
class Comparison:
    """One comparison and its outcome."""

    kind: str
    """Kind of the test."""
    where: str
    """Scenario or study; empty for random instances."""
    question: str
    """What is compared: names of selectors and quantities."""
    wanted: str
    """Where the gap should lie."""
    outcome: str
    """``holds``, ``fails``, ``undecided`` or ``not run``."""
    gap: float = math.nan
    """The measured gap."""
    low: float = math.nan
    high: float = math.nan
    """Ends of its interval; NaN if there is none."""
    unit: str = ""
    """``ratio``, ``points``, ``exponent`` or the unit of a difference."""
    bound: str = ""
    """``at most`` or ``at least`` if the gap is only bounded, because a run ended too early."""
    p: float = math.nan
    """Twice the p-value of the outcome's side (`statistics`); NaN where nothing is estimated."""
    measure: str = ""
    """What is measured, without names of selectors and scenarios."""
    seeds: tuple[int, ...] = ()
    """Seeds of the runs; empty for studies without seeds and random instances."""
    runs: tuple[str, ...] = ()
    """Names of the runs, or the study."""
    n_missing: int = 0
    """Number of planned runs or seeds that are missing."""
    note: str = ""
    """What else a reader should know."""
    subject: str = ""
    """The selector that the claim is about; empty where it is about none, or all."""
    test: int = 0
    """Which test of its claim it is of."""
    authors: float = math.nan
    """The same gap in the authors' log; NaN where it does not tell."""
    alone: str = ""
    """The outcome before the correction for the number of comparisons, if that took it away."""
    repeats: str = ""
    """The comparison whose runs these are, under other names; then this one has no vote."""
    prints: Mapping[tuple[str, int], str] = field(default_factory=dict, repr=False)
    """By side and seed, a hash of what the runs did; not written to files."""

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
    def part(self) -> tuple[int, str, str]:
        """The part of its claim that it tests: the test, what is measured, and where the gap should lie."""
        return self.test, self.question.partition(":")[0], self.wanted

    @property
    def name(self) -> str:
        """What tells it from the others of its claim."""
        return f"{self.where}: {self.question}" if self.where else self.question


class NotRunError(Exception):
    """Why a comparison cannot be made."""


class Question:
    """A `Comparison` to be made in a ``with`` block; it is not run if the block raises `NotRunError`."""

    def __init__(self, kind: str, where: str, text: str, wanted: str) -> None:
        self.answer = Comparison(kind, where, text, wanted, NOT_RUN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, NotRunError):
            return False
        self.answer = replace(self.answer, note=str(error))
        return True

    def decide(self, judged: Judgement, gap: str = "difference", **fields: Any) -> None:
        """Answer by a judgement of differences, or of logarithms of ratios (``gap`` is ``ratio``).

        Without ``measure`` in the fields of the comparison, it is the beginning of the question.
        """
        mean, low, high = map(math.exp, judged.found) if gap == RATIO else judged.found
        fields = {"unit": RATIO if gap == RATIO else ""} | fields
        self.settle(judged.outcome, mean, low=low, high=high, bound=judged.bound, p=judged.p, **fields)

    def settle(self, outcome: str | bool, gap: float, **fields: Any) -> None:
        """Answer by what is known for certain."""
        fields = {"measure": self.answer.question.partition(":")[0]} | fields
        result = outcome if isinstance(outcome, str) else HOLDS if outcome else FAILS
        self.answer = replace(self.answer, outcome=result, gap=gap, **fields)


def joined(*notes: str) -> str:
    """Notes as one text, without empty ones."""
    return "; ".join(filter(None, notes))


def wanted_text(low: float, high: float, gap: str) -> str:
    """The open interval of `pausefl.claims.statistics.region` in words."""
    if gap == RATIO:
        low, high = math.exp(low) if low > -math.inf else low, math.exp(high) if high < math.inf else high
    least, most = (number(limit + 0.0, ".3g") for limit in (low, high))  # no minus zero
    if low == -math.inf:
        return f"{gap} < {most}"
    return f"{gap} > {least}" if high == math.inf else f"{gap} from {least} to {most}"
