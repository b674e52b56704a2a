"""One comparison of a claim test: the question, and its answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pausefl.claims.statistics import FAILS, HOLDS, NOT_RUN, UNDECIDED, Judgement
from pausefl.results.markdown import number

#: Unit of a gap that is a ratio.
RATIO = "ratio"

#: Scenario or study, and selector.
Side = tuple[str, str]


class NotRunError(Exception):
    """Why a question has no answer."""


@dataclass(frozen=True)
class Comparison:
    """A question of a claim test and, once it is made, the outcome."""

    kind: str
    """Kind of the test."""
    where: str
    """Scenario or study."""
    topic: str
    """What is asked, without the selectors."""
    who: str
    """Selectors that are compared, in words."""
    wanted: str
    """Where the gap should lie."""
    outcome: str = NOT_RUN
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
    """What is measured; empty if it was not made."""
    seeds: tuple[int, ...] = ()
    """Seeds of the runs; empty for studies without seeds."""
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

    # For computing, not for files.
    sides: tuple[Side, ...] = ()
    """What is compared with what."""
    limits: tuple[float, float] = (-math.inf, math.inf)
    """The open interval that is wanted; of a ratio, of its logarithm."""
    prints: Mapping[tuple[Any, int], str] = field(default_factory=dict, repr=False)
    """By side and seed, a hash of what the runs did."""

    @property
    def question(self) -> str:
        """Topic and selectors."""
        return f"{self.topic}: {self.who}" if self.who else self.topic

    @property
    def made(self) -> bool:
        """Whether it was made."""
        return self.outcome != NOT_RUN

    @property
    def of_one_seed(self) -> bool:
        """Whether nothing can be estimated from it, because it has one seed."""
        return self.outcome == UNDECIDED and len(self.seeds) == 1

    @property
    def part(self) -> tuple[int, str, str]:
        """The part of its claim that it tests."""
        return self.test, self.topic, self.wanted

    def decided(self, judged: Judgement, ratio: bool = False, **facts: Any) -> Comparison:
        """The answer by a judgement of differences, or of logarithms of ratios."""
        mean, low, high = map(math.exp, judged.found) if ratio else judged.found
        facts = {"unit": RATIO if ratio else self.unit, "low": low, "high": high} | facts
        return self.settled(judged.outcome, mean, bound=judged.bound, p=judged.p, **facts)

    def settled(self, outcome: str | bool, gap: float, **facts: Any) -> Comparison:
        """The answer by what is known for certain; ``facts`` are fields, and ``measure`` is the topic."""
        result = outcome if isinstance(outcome, str) else HOLDS if outcome else FAILS
        return replace(self, outcome=result, gap=gap, **{"measure": self.topic} | facts)


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
