"""Verdicts as JSON, CSV, Markdown, and a table for the screen."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from pausefl.claims.findings import Finding
from pausefl.claims.statistics import CONFIDENCE, HOLDS, NOT_RUN
from pausefl.claims.verdicts import VERDICTS, Judged
from pausefl.claims.words import interval, number, tally
from pausefl.results import markdown
from pausefl.settings.claims import ANY


def to_json(judged: Iterable[Judged], scale: str, code_hash: str) -> str:
    """Everything, for programs; null for NaN and infinite numbers."""
    claims = [
        {
            "id": one.claim.id,
            "sentence": one.claim.sentence,
            "place": one.claim.place,
            "verdict": one.verdict,
            "n_tests": len(one.findings),
            "n_hold": sum(finding.outcome == HOLDS for finding in one.findings),
            "seeds": seeds(one),
            "tests": [_plain(finding, scale) for finding in one.findings],
        }
        for one in judged
    ]
    document = {
        "scale": scale,
        "confidence": CONFIDENCE,
        "code_hash": code_hash,
        "claims": claims,
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(finding: Finding, scale: str) -> dict[str, Any]:
    """A finding in JSON's types."""
    values = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in asdict(finding).items()
    }
    values["scale"] = scale if finding.where else ANY
    values["n_seeds"] = len(finding.seeds)
    return values


def to_frame(judged: Iterable[Judged], scale: str) -> pd.DataFrame:
    """One row a test, with the verdict of its claim; one row for a claim without tests."""
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


def outcomes(one: Judged) -> str:
    """How many tests of a claim have which outcome."""
    return tally(finding.outcome for finding in one.findings)


def seeds(one: Judged) -> str:
    """How many seeds the tests of a claim have: a number, a range, or nothing."""
    counts = {len(finding.seeds) for finding in one.findings if finding.seeds}
    if not counts:
        return ""
    if counts == {1}:
        return "one seed"
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def summary_line(judged: Sequence[Judged]) -> str:
    """How many claims have which verdict."""
    counts = Counter(one.verdict for one in judged)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)


def to_text(judged: Sequence[Judged], scale: str) -> str:
    """A compact table for the screen."""
    rows = [("claim", "verdict", "tests", "seeds", "")]
    rows += [(one.claim.id, one.verdict, outcomes(one), seeds(one), one.claim.sentence) for one in judged]
    lines = [f"Runs at scale '{scale}'", *markdown.aligned(rows), summary_line(judged)]
    return "\n".join(lines) + "\n"


def to_markdown(judged: Sequence[Judged], scale: str) -> str:
    """A page for people: the verdicts, then every test of every claim."""
    return "\n".join(_page(judged, scale))


def _page(judged: Sequence[Judged], scale: str) -> Iterator[str]:
    yield f"Runs at scale **{scale}**: {summary_line(judged)}.\n"
    yield markdown.table(
        ("Claim", "What the papers say", "Where", "Verdict", "Tests", "Seeds"),
        [
            (
                one.claim.id,
                one.claim.sentence,
                one.claim.place,
                f"**{one.verdict}**",
                outcomes(one) or "none at this scale",
                seeds(one) or "–",
            )
            for one in judged
        ],
    )
    yield (
        "Gaps are means over seeds of paired differences, or geometric means of paired ratios. Intervals are"
        f" Student's at {100 * CONFIDENCE:.0f} %; for shares, Wilson's. A test holds if its whole interval is"
        " where it should be, fails if none of it is, and is undecided otherwise. A claim is reproduced if"
        " all of its tests hold, partly reproduced if some hold or they rest on one seed, and not reproduced"
        " if none holds, because they fail or are undecided. What was not run never counts as a pass.\n"
    )
    for one in judged:
        yield f"## {one.claim.id}: {one.verdict}\n"
        yield f"{one.claim.sentence} ({one.claim.place})\n"
        yield _tests(one) if one.findings else "Not run: the claim has no test at this scale.\n"


def _tests(one: Judged) -> str:
    """A table of all tests of a claim."""
    rows = [
        (
            finding.where or "random instances",
            finding.question,
            finding.wanted,
            "–" if math.isnan(finding.gap) else f"{number(finding.gap, 4)} ({finding.unit})",
            interval(finding.low, finding.high, 4),
            ("one seed" if finding.one_seed else str(len(finding.seeds))) if finding.seeds else "–",
            finding.outcome,
            finding.note,
        )
        for finding in one.findings
    ]
    head = ("Runs of", "Test", "Wanted", "Measured", "Interval", "Seeds", "Outcome", "Note")
    return markdown.table(head, rows)
