"""The documentation's tables of claims say what the published runs say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pausefl.report.documentation import SCALES, PublishedVerdicts, pages
from pausefl.settings.claims import load_claims

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def published() -> PublishedVerdicts:
    return PublishedVerdicts(ROOT)


def test_the_pages_hold_what_is_made(published: PublishedVerdicts) -> None:
    """If this fails: make docs."""
    for path, text in pages(published, ROOT).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path


def test_every_claim_has_a_row_with_a_command_and_a_status(published: PublishedVerdicts) -> None:
    claims = load_claims(ROOT / "config/claims.yaml", ROOT / "config/scenarios")
    rows = published.table().splitlines()[2:]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [claim.id for claim in claims]
    for claim, row in zip(claims, rows, strict=True):
        assert f"`make claim ID={claim.id}`" in row
        assert re.search(r"\*\*(supported|mixed|undecided|contradicted|not run)\*\*", row)


def test_the_findings_of_the_summary_are_those_of_the_pages(published: PublishedVerdicts) -> None:
    rows = published.summary().splitlines()[2:]
    for claim, row in zip(published.claims, rows, strict=True):
        finding, effect, coverage = row.strip("| ").split(" | ")[-3:]
        there = [published.page(scale) for scale in SCALES]
        (page,) = [one for one in there if f"| {finding} | {effect} | {coverage} |" in one][:1]
        assert f"## {claim.id}: {finding.strip('*')}\n" in page
