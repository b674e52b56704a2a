"""From findings to the verdict of each claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pausefl.claims.findings import Finding
from pausefl.claims.records import Records
from pausefl.claims.statistics import HOLDS, NOT_RUN
from pausefl.errors import PauseflError
from pausefl.registry.claims import CLAIM_TESTS
from pausefl.settings.claims import Claim

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"

#: Verdicts, the best first.
VERDICTS = (REPRODUCED, PARTLY, NOT_REPRODUCED, NOT_RUN)


@dataclass(frozen=True)
class Judged:
    """A claim, its findings and its verdict."""

    claim: Claim
    findings: tuple[Finding, ...]
    verdict: str


def verdict(findings: Iterable[Finding]) -> str:
    """The verdict on a claim's findings.

    ``reproduced`` if every comparison was made and holds, with several seeds and no missing runs; ``partly``
    if some hold; ``not reproduced`` if none holds; ``not run`` if none could be made.
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
        Claims to test.
    records
        Runs and studies. Only those of the scale are read.
    scale
        One of `pausefl.settings.claims.SCALES`.
    partial
        Judge the results that exist. A comparison with missing runs has fewer seeds, and its claim is
        ``partly`` reproduced at best.

    Raises
    ------
    PauseflError
        If a configured run or study is missing and ``partial`` is not set. The message names all of them.
    """
    judged = []
    for claim in claims:
        found = tuple(
            finding
            for test in claim.tests
            if test.applies(scale)
            for finding in CLAIM_TESTS[test.kind].load()(test, records, scale)
        )
        judged.append(Judged(claim, found, verdict(found)))
    if records.missing and not partial:
        names = "\n".join(f"  {name}" for name in sorted(records.missing))
        raise PauseflError(f"claims at scale '{scale}': {len(records.missing)} results are missing:\n{names}")
    return tuple(judged)
