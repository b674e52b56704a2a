"""Findings as JSON, CSV, Markdown, and a table for the screen."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import pandas as pd

from pausefl.claims import words
from pausefl.claims.comparisons import Comparison
from pausefl.claims.load import Check, Claim
from pausefl.claims.statistics import NOT_RUN
from pausefl.claims.verdicts import FINDINGS, Judged
from pausefl.figures.papers import AS_RUN, AS_WRITTEN
from pausefl.results import markdown
from pausefl.results.intervals import CONFIDENCE

#: What files have of a comparison.
_WRITTEN = """kind where question wanted outcome gap low high unit bound p measure seeds runs n_missing note
subject test authors alone repeats"""


def to_json(judged: Sequence[Judged], scale: str, code_hash: str) -> str:
    """Everything, for programs; null for NaN and infinite numbers.

    A claim has the keys of its reading as written, and under ``as_run`` those of the other one, or null.
    """
    claims = [
        claim.model_dump(include={"id", "sentence", "place", "note"})
        | _told(written, scale)
        | {"as_run": _told(run, scale) if run else None}
        for claim, written, run in side_by_side(judged)
    ]
    document = {"scale": scale, "confidence": CONFIDENCE, "code_hash": code_hash, "claims": claims}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def side_by_side(judged: Iterable[Judged]) -> Iterator[tuple[Claim, Judged, Judged | None]]:
    """Each claim as written and, if a run of the authors bears on it, as run."""
    for _, ours in groupby(judged, key=lambda one: one.claim.id):
        written, *run = ours
        yield written.claim, written, run[0] if run else None


def _told(one: Judged, scale: str) -> dict[str, Any]:
    """A claim in one reading, in JSON's types."""
    return {
        "finding": one.finding,
        "failing": words.failing(one),
        "needed": words.needed(one),
        "outcomes": words.outcomes(one.coverage),
        "why": words.why(one),
        "effect": words.effect(one),
        "authors": words.authors(one),
        "coverage": asdict(one.coverage) | {"text": words.covered(one.coverage)},
        "comparisons": [_plain(each, scale) for each in one.comparisons],
    }


def _plain(comparison: Comparison, scale: str) -> dict[str, Any]:
    """A comparison in JSON's types."""
    values: dict[str, Any] = {key: getattr(comparison, key) for key in _WRITTEN.split()}
    for key in ("gap", "low", "high", "p", "authors"):
        values[key] = values[key] if math.isfinite(values[key]) else None
    return values | {"scale": scale, "n_seeds": len(comparison.seeds)}


def to_frame(judged: Iterable[Judged], scale: str) -> pd.DataFrame:
    """One row a comparison, with the finding on its claim; one row for a claim without comparisons."""
    rows = []
    for one in judged:
        head = {"claim": one.claim.id, "reading": one.reading, "finding": one.finding}
        for comparison in one.comparisons:
            plain = _plain(comparison, scale)
            plain |= {key: " ".join(map(str, plain[key])) for key in ("seeds", "runs")}
            rows.append(head | plain)
        if not one.comparisons:
            rows.append(head | {"outcome": NOT_RUN, "scale": scale})
    return pd.DataFrame(rows)


def summary_line(judged: Iterable[Judged]) -> str:
    """How many claims have which finding, as written."""
    counts = Counter(one.finding for one in judged if one.reading == AS_WRITTEN)
    return ", ".join(f"{counts[finding]} {finding}" for finding in FINDINGS if counts[finding])


def to_text(judged: Sequence[Judged], scale: str) -> str:
    """A compact table for the screen: claims in both readings."""
    rows = [("claim", "finding", "comparisons", "effect", "")]
    for one in judged:
        name = one.claim.id if one.reading == AS_WRITTEN else f"{one.claim.id} {one.reading}"
        compared = words.outcomes(one.coverage)
        rows.append((name, one.finding, compared, words.effect(one), one.claim.sentence))
    lines = [f"Runs at scale '{scale}'", *markdown.aligned(rows), summary_line(judged)]
    return "\n".join(lines) + "\n"


def to_markdown(judged: Sequence[Judged], hours: Mapping[str, float] = {}) -> str:
    """Tables for people: the verdicts on claims, then what each of them rests on.

    ``hours`` are the core-hours that claims need to be judged as run, by claim.
    """
    grounds = f"### What each verdict rests on\n\n{_grounds(judged)}"
    return f"### Claims\n\n{_verdicts(judged, hours)}\n{grounds}"


def checks_to_markdown(checks: Iterable[Check]) -> str:
    """A table for people: what is said of code and theorems, and the tests that show it."""
    rows = []
    for one in checks:
        tests = ", ".join(f"`{name.rpartition('::')[2]}`" for name in one.tests)
        rows.append([one.id, " ".join(filter(None, [one.sentence, one.note])), one.place, tests])
    return markdown.table(["Check", "What is claimed", "Where", "Shown by the tests"], rows)


def _verdicts(judged: Sequence[Judged], hours: Mapping[str, float]) -> str:
    """A row a claim; columns of the other reading and of the authors' logs if a claim has them."""
    both = any(one.reading == AS_RUN for one in judged)
    rows = []
    for claim, written, run in side_by_side(judged):
        row = [claim.id, claim.sentence, ". ".join(filter(None, [_verdict(written), claim.note]))]
        if both:
            cost = f", {hours[claim.id]:.0f} core-hours" if claim.id in hours else ""
            row.append(_verdict(run) + (cost if run.finding == NOT_RUN else "") if run else "–")
            row.append(words.authors(run) if run else "–")
        rows.append(row)
    head = ["Claim", "What the papers say", "As written", "As run", "Authors' log"]
    return markdown.table(head if both else [*head[:2], "Verdict"], rows)


def _verdict(one: Judged) -> str:
    told = [f"**{one.finding}**", words.failing(one), words.effect(one)]
    return "; ".join(text for text in told if text not in ("", "–"))


def _grounds(judged: Sequence[Judged]) -> str:
    """A row a claim and reading in which something is compared: what was needed, what came of it, and why."""
    head = ("Claim", "Reading", "What each comparison needs", "Comparisons", "Covers", "Why")
    rows = []
    for one in (one for one in judged if one.comparisons):
        compared, covered = words.outcomes(one.coverage), words.covered(one.coverage)
        rows.append((one.claim.id, one.reading, words.needed(one), compared, covered, words.why(one)))
    return markdown.table(head, rows)
