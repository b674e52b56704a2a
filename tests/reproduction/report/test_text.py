"""Markdown and captions as safe HTML."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup

from pausefl.reproduction.report.text import link_deviations, markdown

ROOT = Path(__file__).parents[3]
HOSTILE = '<script>alert("x")</script>'


def test_html_in_markdown_is_shown() -> None:
    html = markdown(f"A {HOSTILE} b\n\n| x |\n| - |\n| {HOSTILE} |\n")
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 2


def test_ids_of_the_ledger_are_links_and_no_others() -> None:
    html = link_deviations(Markup('D1, D22, <a href="#D1">D1</a> <b title="D1">xD1</b>'), {"D1", "D2"})
    assert html == '<a href="#D1">D1</a>, D22, <a href="#D1">D1</a> <b title="D1">xD1</b>'
    assert link_deviations(f"{HOSTILE} D1", {"D1"}).startswith("&lt;script&gt;")


def test_the_ledger_has_every_deviation_once() -> None:
    ledger = (ROOT / "docs/deviations.md").read_text("utf-8")
    ids = re.findall(r'<td[^>]* id="(D\d+)"|<td id="(D\d+)"', markdown(ledger))
    found = [first or second for first, second in ids]
    assert len(found) == len(set(found)) > 60
    gone = {"D67"}  # numbers are not given twice
    assert set(found) == {f"D{n}" for n in range(1, len(found) + len(gone) + 1)} - gone
