"""The reviewer's table says what the published runs say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pausefl.artifact import BEGIN, END, PAGE, filled, table
from pausefl.claims.settings import load_claims

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> str:
    return table(ROOT)


def test_the_page_has_the_table_that_is_made(made: str) -> None:
    """If this fails: make docs."""
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    assert filled(page, made) == page


def test_every_claim_has_a_row_with_a_command_and_a_status(made: str) -> None:
    claims = load_claims(ROOT / "config/claims.yaml", ROOT / "config/scenarios")
    rows = made.splitlines()[2:]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [claim.id for claim in claims]
    for claim, row in zip(claims, rows, strict=True):
        assert f"`make claim ID={claim.id}`" in row
        assert re.search(r"\*\*(reproduced|partly|not reproduced)\*\*|not run \|$", row)


def test_the_table_replaces_what_was_there() -> None:
    assert filled(f"a\n{BEGIN}\nold\n{END}\nb", "| new |\n") == f"a\n{BEGIN}\n| new |\n{END}\nb"
