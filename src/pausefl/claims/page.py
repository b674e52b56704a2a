"""Findings as JSON, CSV, Markdown, and a table for the screen."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from pausefl.claims import words
from pausefl.claims.comparisons import Comparison
from pausefl.claims.statistics import NOT_RUN
from pausefl.claims.verdicts import FINDINGS, Judged
from pausefl.results import markdown
from pausefl.results.intervals import CONFIDENCE

#: The scale of a comparison on instances that its test samples, which is part of a claim at every scale.
ANY = "any"


def to_json(judged: Iterable[Judged], scale: str, code_hash: str) -> str:
    """Everything, for programs; null for NaN and infinite numbers."""
    claims = [
        {
            "id": one.claim.id,
            "sentence": one.claim.sentence,
            "place": one.claim.place,
            "finding": one.finding,
            "effect": words.effect(one),
            "outcomes": words.outcomes(one),
            "coverage": asdict(one.coverage) | {"text": words.covered(one.coverage)},
            "comparisons": [_plain(each, scale) for each in one.comparisons],
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


def _plain(comparison: Comparison, scale: str) -> dict[str, Any]:
    """A comparison in JSON's types."""
    values = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in vars(comparison).items()
        if key != "prints"
    }
    values["scale"] = scale if comparison.where else ANY
    values["n_seeds"] = len(comparison.seeds)
    return values


def to_frame(judged: Iterable[Judged], scale: str) -> pd.DataFrame:
    """One row a comparison, with the finding on its claim; one row for a claim without comparisons."""
    rows = []
    for one in judged:
        head = {"claim": one.claim.id, "finding": one.finding, "coverage": words.covered(one.coverage)}
        for comparison in one.comparisons:
            plain = _plain(comparison, scale)
            plain |= {key: " ".join(map(str, plain[key])) for key in ("seeds", "runs")}
            rows.append(head | plain)
        if not one.comparisons:
            rows.append(head | {"outcome": NOT_RUN, "scale": scale})
    return pd.DataFrame(rows)


def summary_line(judged: Sequence[Judged]) -> str:
    """How many claims have which finding."""
    counts = Counter(one.finding for one in judged)
    return ", ".join(f"{counts[finding]} {finding}" for finding in FINDINGS)


def to_text(judged: Sequence[Judged], scale: str) -> str:
    """A compact table for the screen."""
    rows = [("claim", "finding", "effect", "coverage", "")]
    rows += [(one.claim.id, one.finding, *_told(one), one.claim.sentence) for one in judged]
    lines = [f"Runs at scale '{scale}'", *markdown.aligned(rows), summary_line(judged)]
    return "\n".join(lines) + "\n"


def _told(one: Judged) -> tuple[str, str]:
    return words.effect(one), words.covered(one.coverage)


def to_markdown(judged: Sequence[Judged], scale: str) -> str:
    """A page for people: the findings, then every comparison of every claim."""
    return "\n".join(_page(judged, scale))


def _page(judged: Sequence[Judged], scale: str) -> Iterator[str]:
    yield f"Runs at scale **{scale}**: {summary_line(judged)}.\n"
    yield markdown.table(
        ("Claim", "What the papers say", "Where", "Finding", "Effect", "Coverage"),
        [
            (one.claim.id, one.claim.sentence, one.claim.place, f"**{one.finding}**", *_told(one))
            for one in judged
        ],
    )
    yield (
        "The finding is on what was compared; the coverage says how much that is. Gaps are means over seeds"
        f" of paired differences, or geometric means of paired ratios, with Student's interval at"
        f" {100 * CONFIDENCE:.0f} %; shares have Wilson's. A comparison holds if its interval lies where the"
        " claim wants it, fails if it lies elsewhere, and is undecided otherwise. One seed has no interval"
        " and counts as coverage alone.\n"
    )
    for one in judged:
        yield f"## {one.claim.id}: {one.finding}\n"
        yield f"{one.claim.sentence} ({one.claim.place})\n"
        if not one.comparisons:
            yield "Not run: the claim has no comparison at this scale.\n"
            continue
        yield f"{words.outcomes(one) or 'None made'}. Coverage: {words.covered(one.coverage)}.\n"
        for reason in dict.fromkeys(test.reason for test in one.claim.tests if test.reason):
            yield f"Margin: {reason}\n"
        yield _comparisons(one)


def _comparisons(one: Judged) -> str:
    """A table of all comparisons of a claim."""
    rows = [
        (
            each.where or "random instances",
            each.question,
            each.wanted,
            words.gap(each),
            words.interval(each.low, each.high, 4),
            words.p_value(each.p),
            ("one seed" if len(each.seeds) == 1 else str(len(each.seeds))) if each.seeds else "–",
            f"repeats {each.repeats}" if each.repeats else each.outcome,
            each.note,
        )
        for each in one.comparisons
    ]
    head = ("Runs of", "Compared", "Wanted", "Measured", "Interval", "p", "Seeds", "Outcome", "Note")
    return markdown.table(head, rows)
