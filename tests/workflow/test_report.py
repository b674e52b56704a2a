"""The report, made by the workflow and opened in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import see
from workspace import Checkout

pytestmark = pytest.mark.slow

#: The most that a page with everything may have, in bytes.
MOST = 3_000_000


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 390])
def test_a_browser_finds_nothing_wrong_and_every_figure(
    everything: Checkout, width: int, tmp_path: Path
) -> None:
    home = everything.root / "results/report"
    page = (home / "all.html").read_text("utf-8")
    seen = see(page, width, tmp_path, home)
    assert seen.problems() == []
    assert seen.inner == width
    assert seen.sections == ["claims", "selectors", "figures", "deviations"]
    assert seen.images == page.count("<img ")
    pictures = [*(everything.root / "results/figures").glob("*.png")]
    linked = re.findall(r'href="\.\./figures/(\w+)\.pdf"', page)
    assert sorted(linked) == sorted(path.stem for path in pictures)
    assert len(page.encode()) < MOST
    for words in (
        "Judged on runs at demo scale",
        "Not run for this report: BSFL, Figs. 2 to 10",
        "Test accuracy against simulated time",
        "One seed only (0).",
        "Tiny regret",
        "handwritten digits of scikit-learn",
    ):
        assert words in seen.text, words
