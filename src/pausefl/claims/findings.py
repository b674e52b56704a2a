"""What a test found in one scenario, in one study, or on instances of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pausefl.claims.statistics import NOT_RUN, Estimate


@dataclass(frozen=True)
class Finding:
    """One comparison and its outcome.

    Attributes
    ----------
    kind
        Of the test.
    where
        Scenario or study; empty for drawn instances.
    question
        What is compared, by the names of selectors and metrics.
    wanted
        Where the gap has to lie.
    outcome
        ``holds``, ``fails``, ``undecided`` or ``not run``.
    gap, low, high
        What was measured, and its interval; not a number where there is none.
    unit
        ``ratio``, ``share``, ``exponent`` or the unit of a difference.
    seeds
        Of the runs; empty where there are no runs of several seeds.
    runs
        Names of the runs, or the study.
    n_missing
        Runs, or seeds, that were to be there and are not.
    note
        What a reader has to know besides.
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
    seeds: tuple[int, ...] = ()
    runs: tuple[str, ...] = ()
    n_missing: int = 0
    note: str = ""

    @property
    def one_seed(self) -> bool:
        """Whether it rests on a single seed, and has no interval for that."""
        return len(self.seeds) == 1


def not_run(kind: str, where: str, question: str, wanted: str, note: str) -> Finding:
    """A comparison that could not be made, and why."""
    return Finding(kind, where, question, wanted, NOT_RUN, note=note)


def in_units(found: Estimate, gap: str) -> tuple[float, float, float]:
    """Mean, low and high as ratios where they are logarithms of ratios."""
    values = (found.mean, found.low, found.high)
    return (math.exp(values[0]), math.exp(values[1]), math.exp(values[2])) if gap == "ratio" else values


def wanted_text(low: float, high: float, gap: str) -> str:
    """The open interval of `pausefl.claims.statistics.region` in words."""
    if gap == "ratio":
        low, high = math.exp(low) if low > -math.inf else low, math.exp(high) if high < math.inf else high
    if low == -math.inf:
        return f"{gap} < {high:.3g}"
    return f"{gap} > {low:.3g}" if high == math.inf else f"{gap} from {low:.3g} to {high:.3g}"
