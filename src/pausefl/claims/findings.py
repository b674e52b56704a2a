"""The result of one comparison of a claim test."""

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
        ``ratio``, ``share``, ``exponent`` or the unit of a difference.
    seeds
        Seeds of the runs; empty for studies without seeds and random instances.
    runs
        Names of the runs, or the study.
    n_missing
        Number of planned runs or seeds that are missing.
    note
        What else a reader should know.
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
        """Whether it rests on a single seed, and so has no interval."""
        return len(self.seeds) == 1


def not_run(kind: str, where: str, question: str, wanted: str, note: str) -> Finding:
    """A comparison that could not be made; ``note`` says why."""
    return Finding(kind, where, question, wanted, NOT_RUN, note=note)


def joined(*notes: str) -> str:
    """Notes as one text, without empty ones."""
    return "; ".join(filter(None, notes))


def in_units(found: Estimate, gap: str) -> tuple[float, float, float]:
    """Mean, low and high; as ratios if they are logarithms of ratios."""
    values = (found.mean, found.low, found.high)
    return (math.exp(values[0]), math.exp(values[1]), math.exp(values[2])) if gap == "ratio" else values


def wanted_text(low: float, high: float, gap: str) -> str:
    """The open interval of `pausefl.claims.statistics.region` in words."""
    if gap == "ratio":
        low, high = math.exp(low) if low > -math.inf else low, math.exp(high) if high < math.inf else high
    if low == -math.inf:
        return f"{gap} < {high:.3g}"
    return f"{gap} > {low:.3g}" if high == math.inf else f"{gap} from {low:.3g} to {high:.3g}"
