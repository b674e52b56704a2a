"""From findings to the verdict of each claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pausefl.claims.findings import Finding
from pausefl.claims.kinds import RUN_KINDS
from pausefl.claims.laws import STUDY_KINDS
from pausefl.claims.records import Records
from pausefl.claims.searches import DRAWN_KINDS
from pausefl.claims.statistics import HOLDS, NOT_RUN
from pausefl.errors import PauseflError
from pausefl.settings.claims import Claim

_KINDS = RUN_KINDS | STUDY_KINDS | DRAWN_KINDS

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"

#: The verdicts, the best first; the last is `NOT_RUN`.
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_RUN)


@dataclass(frozen=True)
class Judged:
    """A claim, what was found, and the verdict."""

    claim: Claim
    findings: tuple[Finding, ...]
    verdict: str


def verdict(findings: Iterable[Finding]) -> str:
    """The verdict on what was found.

    ``reproduced`` if every comparison was made and holds, and none rests on a single seed or leaves out runs
    that were to be there; ``partly`` if some hold; ``not reproduced`` if none does; ``not run`` if none could
    be made.
    """
    findings = list(findings)
    made = [finding for finding in findings if finding.outcome != NOT_RUN]
    if not made:
        return NOT_RUN
    held = [finding for finding in made if finding.outcome == HOLDS]
    if not held:
        return NOT_REPRODUCED
    whole = not any(finding.one_seed or finding.n_missing for finding in held)
    return REPRODUCED if whole and len(held) == len(findings) else PARTLY


def evaluate(
    claims: Iterable[Claim], records: Records, scale: str, partial: bool = False
) -> tuple[Judged, ...]:
    """Test every claim at one scale.

    Parameters
    ----------
    claims
        What is claimed.
    records
        The runs and studies; only those of the scale are read.
    scale
        One of `pausefl.settings.claims.SCALES`.
    partial
        Judge what is there. A comparison from which runs are missing then has fewer seeds, and its claim is
        ``partly`` reproduced at best.

    Raises
    ------
    PauseflError
        If a run or study that the configuration lists is missing and ``partial`` is not set; all of them are
        named.
    """
    judged = []
    for claim in claims:
        found = tuple(
            finding
            for test in claim.tests
            if test.applies(scale)
            for finding in _KINDS[test.kind](test, records, scale)
        )
        judged.append(Judged(claim, found, verdict(found)))
    if records.missing and not partial:
        names = "\n".join(f"  {name}" for name in sorted(records.missing))
        raise PauseflError(f"claims at scale '{scale}': {len(records.missing)} results are missing:\n{names}")
    return tuple(judged)
