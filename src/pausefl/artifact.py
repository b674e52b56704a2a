"""The reviewer's table: what each claim takes to check, and what was found.

``python -m pausefl.artifact`` writes it into ``docs/artifact.md``, between two marks. Verdicts are those of
the published runs; times and disk are those that `pausefl.plan` expects of the jobs that a claim needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from pausefl.claims.page import tally
from pausefl.claims.records import Records
from pausefl.claims.settings import Claim, load_claims, places
from pausefl.claims.statistics import NOT_RUN
from pausefl.claims.verdicts import Judged, evaluate
from pausefl.config import Config, load_config, read_yaml
from pausefl.plan import estimate, shipped_rates
from pausefl.studies.settings import load_studies

PAGE = Path("docs/artifact.md")
BEGIN, END = "<!-- claims: made by python -m pausefl.artifact -->", "<!-- end of claims -->"

#: Scales of the published runs, the best first.
_SCALES = ("paper", "reduced")

#: A command to type, and a page to read.
_PERSON_MINUTES = "5"

_HEAD = (
    "Claim",
    "What the papers say",
    "Command",
    "Person (min)",
    "Core-hours",
    "MB",
    "Output",
    "Accepted by",
    "Status",
)


def table(root: Path = Path()) -> str:
    """One row a claim, in Markdown.

    Parameters
    ----------
    root
        The repository.
    """
    full, published = (_config(root, name) for name in ("config", "published"))
    claims = load_claims(root / "config/claims.yaml", root / "config/scenarios")
    records = Records(
        published.scenarios,
        published.experiments,
        load_studies(root / "config/studies.yaml", root / "config/scenarios"),
        root / "results/published",
    )
    judged = {scale: evaluate(claims, records, scale, partial=True) for scale in _SCALES}
    rows = [
        _row(claim, full, {scale: judged[scale][i] for scale in _SCALES}) for i, claim in enumerate(claims)
    ]
    lines = [_HEAD, ("---",) * 3 + ("--:",) * 3 + ("---",) * 3, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _config(root: Path, name: str) -> Config:
    document = read_yaml(root / f"config/{name}.yaml")
    return load_config(document | {"scenarios": str(root / document["scenarios"])}, name)


def _row(claim: Claim, config: Config, judged: Mapping[str, Judged]) -> tuple[str, ...]:
    scenarios, studies = places([claim], "paper")
    rates = shipped_rates()
    jobs = [
        estimate(config.scenarios[row.scenario], row.selector, config.raw, rates)
        for row in config.experiments
        if row.scenario in scenarios
    ]
    hours = sum(job.seconds for job in jobs) / 3600
    megabytes = sum(job.disk_bytes for job in jobs) / 1e6
    kinds = dict.fromkeys(test.kind for test in claim.tests)
    return (
        claim.id,
        claim.sentence,
        f"`make claim ID={claim.id}`",
        _PERSON_MINUTES,
        f"{hours:.1f}" if jobs else "see [costs](costs.md)" if studies else "< 0.1",
        f"{max(1, math.ceil(megabytes))}",
        f"`results/claims/{claim.id}.txt`",
        ", ".join(f"[{kind}](claims.md#how-a-claim-is-tested)" for kind in kinds),
        "; ".join(_status(judged)) or NOT_RUN,
    )


def _status(judged: Mapping[str, Judged]) -> Iterator[str]:
    """The verdict at each scale at which anything was run."""
    for scale, one in judged.items():
        if any(finding.where and finding.outcome != NOT_RUN for finding in one.findings):
            yield f"{scale}: **{one.verdict}** ({tally(one)})"
    drawn = [finding for finding in judged[_SCALES[0]].findings if not finding.where]
    if drawn:
        yield f"drawn instances: **{judged[_SCALES[0]].verdict}**"


def filled(page: str, rows: str) -> str:
    """A page with the table in its place."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{rows}{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(filled(PAGE.read_text("utf-8"), table()), encoding="utf-8")


if __name__ == "__main__":
    main()
