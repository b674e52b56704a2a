"""Verdicts as JSON, Markdown, and a table for the screen."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any

from pausefl.analysis import markdown
from pausefl.analysis.intervals import CONFIDENCE
from pausefl.analysis.statistics import NOT_RUN
from pausefl.reproduction.claims.comparison_result import Comparison, joined_notes
from pausefl.reproduction.claims.headlines import answers
from pausefl.reproduction.claims.load import Check, Claim, Headline
from pausefl.reproduction.claims.verdicts import FINDINGS, Verdict
from pausefl.reproduction.claims.words import describe, with_count
from pausefl.reproduction.figures.papers import AS_RUN, AS_WRITTEN, SETTINGS


def to_json(
    verdicts: Sequence[Verdict], scale: str, code_hash: str, headlines: Iterable[Headline] = ()
) -> str:
    """Everything, for programs; null for NaN and infinite numbers.

    A claim has the keys of its reading as written, and under ``as_run`` those of the other one, or null.
    What `headlines.answers` returns comes first.
    """
    claims = [
        claim.model_dump(include={"id", "sentence", "place", "note", "assumed_settings"})
        | _plain(written, scale)
        | {"as_run": _plain(run, scale) if run else None}
        for claim, written, run in side_by_side(verdicts)
    ]
    document = {"scale": scale, "confidence": CONFIDENCE, "code_hash": code_hash}
    document |= {"headlines": answers(headlines, verdicts), "claims": claims}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def side_by_side(verdicts: Iterable[Verdict]) -> Iterator[tuple[Claim, Verdict, Verdict | None]]:
    """Each claim as written and, if a run of the authors bears on it, as run."""
    for _, of_one in groupby(verdicts, key=lambda verdict: verdict.claim.id):
        written, *run = of_one
        yield written.claim, written, run[0] if run else None


def _plain(verdict: Verdict, scale: str) -> dict[str, Any]:
    """A verdict in JSON's types."""
    told = describe(verdict)
    covered = told.pop("covered")
    return {
        "finding": verdict.finding,
        **told,
        "coverage": verdict.coverage | {"text": covered},
        "comparisons": [_plain_comparison(each, scale) for each in verdict.comparisons],
    }


def _plain_comparison(comparison: Comparison, scale: str) -> dict[str, Any]:
    """A comparison in JSON's types."""
    values = {each.name: getattr(comparison, each.name) for each in fields(comparison)}
    for key in ("topic", "who", "prints"):
        del values[key]
    for key in ("gap", "low", "high", "p", "authors"):
        values[key] = values[key] if math.isfinite(values[key]) else None
    values |= {"scale": scale, "n_seeds": len(comparison.seeds)}
    head = {"kind": comparison.kind, "where": comparison.where, "question": comparison.question}
    return head | values


def summary_line(verdicts: Iterable[Verdict]) -> str:
    """How many claims have which finding, as written."""
    counts = Counter(one.finding for one in verdicts if one.reading == AS_WRITTEN)
    return ", ".join(f"{counts[finding]} {finding}" for finding in FINDINGS if counts[finding])


def to_text(verdicts: Sequence[Verdict], scale: str) -> str:
    """A compact table for the screen: claims in both readings."""
    rows = [("claim", "finding", "comparisons", "effect", "")]
    for one in verdicts:
        name = one.claim.id if one.reading == AS_WRITTEN else f"{one.claim.id} {one.reading}"
        told = describe(one)
        effect = told["why"] if one.finding == NOT_RUN else told["effect"]
        rows.append((name, one.finding, told["outcomes"], effect, one.claim.sentence))
    lines = [f"Runs at scale '{scale}'", *markdown.aligned(rows), summary_line(verdicts)]
    return "\n".join(lines) + "\n"


def to_markdown(verdicts: Sequence[Verdict]) -> str:
    """Tables for people: the verdicts on claims, then what each of them rests on."""
    return (
        f"### Claims\n\n{claims_to_markdown(verdicts)}\n"
        f"### What each verdict rests on\n\n{grounds_to_markdown(verdicts)}"
    )


def checks_to_markdown(checks: Iterable[Check]) -> str:
    """A table for people: what is said of code and theorems, and the tests that show it."""
    rows = []
    for one in checks:
        tests = ", ".join(f"`{name.rpartition('::')[2]}`" for name in one.tests)
        rows.append([one.id, joined_notes(one.sentence, one.note, by=" "), one.place, tests])
    return markdown.table(["Check", "What is claimed", "Where", "Shown by the tests"], rows)


def claims_to_markdown(verdicts: Sequence[Verdict]) -> str:
    """A row a claim; columns of the authors' settings and of their logs if a claim has them."""
    both = any(one.reading == AS_RUN for one in verdicts)
    rows = []
    for claim, written, run in side_by_side(verdicts):
        rests = claim.assumed_settings and f"*Assumed, since the papers are silent: {claim.assumed_settings}*"
        row = [claim.id, claim.sentence, joined_notes(_cell(written), claim.note, rests, by=". ")]
        if both:
            row += [_cell(run), describe(run)["authors"]] if run else ["–", "–"]
        rows.append(row)
    head = ["Claim", "What the papers say", *map(str.capitalize, SETTINGS.values()), "Authors' log"]
    return markdown.table(head if both else [*head[:2], "Verdict"], rows)


def _cell(verdict: Verdict) -> str:
    told = describe(verdict)
    finding = with_count(f"**{verdict.finding}**", told["count"])
    words = [finding, told["failing"], told["effect"], told["others"]]
    return "; ".join(text for text in words if text not in ("", "–"))


def grounds_to_markdown(verdicts: Sequence[Verdict]) -> str:
    """A row a claim and reading in which something is compared: what was needed, what came of it, and why."""
    head = ("Claim", "Settings", "What each comparison needs", "Comparisons", "Covers", "Why")
    rows = []
    for one in (one for one in verdicts if one.comparisons):
        told = describe(one)
        texts = (told[key] for key in ("needed", "outcomes", "covered", "why"))
        rows.append((one.claim.id, SETTINGS[one.reading], *texts))
    return markdown.table(head, rows)
