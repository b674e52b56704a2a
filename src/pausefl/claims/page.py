"""Verdicts written down: for machines (JSON, CSV) and for people (Markdown, and a table on the screen)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from pausefl.claims.findings import Finding
from pausefl.claims.statistics import CONFIDENCE, FAILS, HOLDS, NOT_RUN, ROUNDING, UNDECIDED
from pausefl.claims.verdicts import VERDICTS, Judged
from pausefl.results import markdown
from pausefl.settings.claims import ANY

#: Before the page where it becomes HTML: its cells wrap, unlike those of other tables.
STYLE = (
    "<style>td { white-space: normal; } th, td { text-align: left; vertical-align: top; }"
    " body { max-width: 110em; }</style>\n\n"
)


def to_json(judged: Iterable[Judged], scale: str, code_hash: str, missing: Iterable[str] = ()) -> str:
    """Everything, for machines; null where a number is not there or not finite."""
    claims = [
        {
            "id": one.claim.id,
            "sentence": one.claim.sentence,
            "place": one.claim.place,
            "verdict": one.verdict,
            "n_tests": len(one.findings),
            "n_hold": n_held(one),
            "seeds": seeds(one),
            "tests": [_plain(finding, scale) for finding in one.findings],
        }
        for one in judged
    ]
    document = {
        "scale": scale,
        "confidence": CONFIDENCE,
        "code_hash": code_hash,
        "missing": sorted(missing),
        "claims": claims,
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(finding: Finding, scale: str) -> dict[str, Any]:
    """A finding in plain values."""
    values = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in asdict(finding).items()
    }
    values["scale"] = scale if finding.where else ANY
    values["n_seeds"] = len(finding.seeds)
    return values


def to_frame(judged: Iterable[Judged], scale: str) -> pd.DataFrame:
    """One row a test, with the verdict of its claim; a claim without tests has one, too."""
    rows = []
    for one in judged:
        head = {"claim": one.claim.id, "verdict": one.verdict}
        for finding in one.findings:
            plain = _plain(finding, scale)
            plain |= {key: " ".join(map(str, plain[key])) for key in ("seeds", "runs")}
            rows.append(head | plain)
        if not one.findings:
            rows.append(head | {"outcome": NOT_RUN, "scale": scale})
    return pd.DataFrame(rows)


def n_held(one: Judged) -> int:
    """How many of a claim's tests hold."""
    return sum(finding.outcome == HOLDS for finding in one.findings)


def tally(one: Judged) -> str:
    """How many of a claim's tests came out in which way: what decides is told from what is undecided."""
    counts = Counter(finding.outcome for finding in one.findings)
    words = {HOLDS: "hold", FAILS: "fail", UNDECIDED: "undecided", NOT_RUN: "not run"}
    return ", ".join(f"{counts[outcome]} {word}" for outcome, word in words.items() if counts[outcome])


def seeds(one: Judged) -> str:
    """How many seeds the tests of a claim have: a number, a range, or nothing."""
    counts = {len(finding.seeds) for finding in one.findings if finding.seeds}
    if not counts:
        return ""
    text = str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
    return "one seed" if counts == {1} else text


def summary_line(judged: Sequence[Judged]) -> str:
    """How many claims have which verdict."""
    counts = Counter(one.verdict for one in judged)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)


def to_text(judged: Sequence[Judged], scale: str) -> str:
    """A compact table for the screen."""
    rows = [("claim", "verdict", "tests", "seeds", "")]
    rows += [(one.claim.id, one.verdict, tally(one), seeds(one), one.claim.sentence) for one in judged]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[4]]) for row in rows]
    lines = [line.rstrip() for line in lines]
    return "\n".join([f"Runs at scale '{scale}'", *lines, summary_line(judged)]) + "\n"


def to_markdown(judged: Sequence[Judged], scale: str, missing: Iterable[str] = ()) -> str:
    """A page for people: the verdicts, then every test of every claim."""
    return "\n".join(_page(judged, scale, sorted(missing))) + "\n"


def _page(judged: Sequence[Judged], scale: str, missing: list[str]) -> Iterator[str]:
    yield f"Runs at scale **{scale}**: {summary_line(judged)}."
    yield ""
    if missing:
        yield f"**Partial: {len(missing)} results are missing:** {', '.join(missing)}."
        yield ""
    yield markdown.table(
        ("Claim", "What the papers say", "Where", "Verdict", "Tests", "Seeds"),
        [
            (
                one.claim.id,
                one.claim.sentence,
                one.claim.place,
                f"**{one.verdict}**",
                tally(one) or "none at this scale",
                seeds(one) or "–",
            )
            for one in judged
        ],
    )
    yield (
        "Gaps are means over seeds of paired differences, or of ratios as their geometric mean; intervals"
        f" are Student's at {100 * CONFIDENCE:.0f} % (of a share: Wilson's). A test holds if all of it is"
        " where it is wanted, fails if none of it is, and is undecided otherwise. A claim is reproduced if"
        " all of its tests hold, partly if some do or if there is one seed, not if none does, be it that they"
        " fail or that these runs decide nothing; what was not run is never counted as a pass."
    )
    for one in judged:
        yield from _section(one)


def _section(one: Judged) -> Iterator[str]:
    """All tests of a claim."""
    yield ""
    yield f"## {one.claim.id}: {one.verdict}"
    yield ""
    yield f"{one.claim.sentence} ({one.claim.place})"
    yield ""
    if not one.findings:
        yield "Not run: the claim has no test at this scale."
        return
    rows = [
        (
            finding.where or "drawn instances",
            finding.question,
            finding.wanted,
            measured(finding),
            interval(finding),
            ("one seed" if finding.one_seed else str(len(finding.seeds))) if finding.seeds else "–",
            finding.outcome,
            finding.note,
        )
        for finding in one.findings
    ]
    head = ("Runs of", "Test", "Wanted", "Measured", "Interval", "Seeds", "Outcome", "Note")
    yield markdown.table(head, rows).rstrip("\n")


def measured(finding: Finding) -> str:
    """The gap with its unit, 0 if it is but rounding; a dash if there is none."""
    if math.isnan(finding.gap):
        return "–"
    gap = finding.gap if abs(finding.gap) >= ROUNDING else 0
    return f"{gap:.4g} ({finding.unit})"


def interval(finding: Finding) -> str:
    """From low to high; a dash if there is none."""
    return "–" if math.isnan(finding.low) else f"{finding.low:.4g} to {finding.high:.4g}"
