"""One comparison of a claim test: what is asked, the answer, and the runs that it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pausefl.analysis.formats import number
from pausefl.analysis.statistics import NOT_RUN, UNDECIDED, Decision

#: Unit of a gap that is a ratio.
RATIO = "ratio"


@dataclass(frozen=True)
class Comparison:
    """A question of a claim test and, once it is answered, the outcome."""

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
    """Number of planned seeds that are missing."""
    note: str = ""
    """What else a reader should know; of a comparison that is not run, why."""
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
    prints: Mapping[tuple[int, int], str] = field(default_factory=dict, repr=False)
    """By side and seed, a hash of what the runs did; not written to files."""

    @property
    def question(self) -> str:
        """Topic and selectors."""
        return f"{self.topic}: {self.who}" if self.who else self.topic

    @property
    def made(self) -> bool:
        """Whether it has an answer."""
        return self.outcome != NOT_RUN

    @property
    def of_one_seed(self) -> bool:
        """Whether nothing can be estimated from it, because it has one seed."""
        return self.outcome == UNDECIDED and len(self.seeds) == 1

    @property
    def part(self) -> tuple[int, str, str]:
        """The part of its claim that it tests."""
        return self.test, self.topic, self.wanted

    def decided(self, decision: Decision, **changes: Any) -> Comparison:
        """The answer by a decision, on logarithms if the unit is `RATIO`.

        ``changes`` are any other fields; ``measure`` is the topic unless it is one of them.
        """
        mean, low, high = map(math.exp, decision.gap) if self.unit == RATIO else decision.gap
        found: dict[str, Any] = {"outcome": decision.outcome, "gap": mean, "low": low, "high": high}
        found |= {"bound": decision.bound, "p": decision.p, "measure": self.topic}
        return replace(self, **found | changes)


def wanted_text(low: float, high: float, unit: str) -> str:
    """The open interval of `pausefl.analysis.statistics.region` in words."""
    if unit == RATIO:
        low, high = np.exp([low, high])
    least, most = (number(limit + 0.0, ".3g") for limit in (low, high))  # no minus zero
    if high == math.inf:
        return f"{unit} > {least}"
    least_of_all = 0 if unit == RATIO else -math.inf
    return f"{unit} < {most}" if low == least_of_all else f"{unit} from {least} to {most}"


def joined_notes(*notes: str, by: str = "; ") -> str:
    """Notes as one text, without empty ones."""
    return by.join(filter(None, notes))
