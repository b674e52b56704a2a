"""The report, made by the workflow and opened in a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import see
from workspace import Checkout

pytestmark = pytest.mark.slow

DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
FIGURE, PDF = 'src="data:image/png;base64,', 'href="data:application/pdf;base64,'


@pytest.fixture(scope="module")
def page(everything: Checkout) -> str:
    """The report of everything."""
    return (everything.root / "results/report/all.html").read_text("utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 800])
def test_a_browser_finds_nothing_wrong(page: str, width: int, tmp_path: Path) -> None:
    seen = see(page, width, tmp_path)
    assert seen.problems() == []
    assert seen.inner == width
    assert seen.sections == ["claims", "selectors", "figures", "deviations"]
    assert seen.images == page.count("<img ")
    assert len(seen.downloads) == page.count(PDF) > 0
    for words in (
        "Judged on runs at demo scale",
        "Code and theorems",
        "Not run for this report: BSFL, Figs. 2 to 10",
        "Not run: Figs. 1 to 3 and 5 to 15, Table I, Theorem 3",
        "Test accuracy against simulated time",
        "One seed only (0).",
        "Tiny regret",
        "annealing keeps the best set seen, not the last one accepted",
        "handwritten digits of scikit-learn",
    ):
        assert words in seen.text, words


@pytest.mark.browser
def test_the_browser_would_find_it(page: str, tmp_path: Path) -> None:
    header = (
        '<header id="claims"><img alt="x" src="https://a.invalid/b.png"><div style="width: 1400px">x</div>'
    )
    edits = {
        FIGURE: f"{FIGURE}AAAA",
        PDF: f"{PDF}AAAA",
        "parentElement.href =": "parentElement.title =",
        'href="#claims"': 'href="#verdicts"',
        "<header>": f'{header}<img alt="dot" src="{DOT}">',
    }
    for old, new in edits.items():
        assert old in page
        page = new.join(page.rsplit(old, 1))
    found = "\n".join(see(page, 1280, tmp_path, wait_s=30).problems())
    assert found.count("broken picture: ") == 2  # one figure, one that is not there
    for problem in (
        "blurred picture: dot",
        "does not open alone: ",
        "no PDF: ",
        "dead link: #verdicts",
        "fetched: ",
        "px wide in a window of",
        "id is there twice: claims",
    ):
        assert problem in found


def test_every_figure_of_the_workflow_is_in_the_report(everything: Checkout, page: str) -> None:
    pictures = [*(everything.root / "results/figures").glob("*.png")]
    embedded = re.findall(f'{PDF}([^"]+)"', page)
    assert len(embedded) == len(set(embedded)) == len(pictures)


@pytest.mark.browser
def test_a_report_of_a_scenario_and_of_a_study(everything: Checkout, tmp_path: Path) -> None:
    copy = everything.copy(tmp_path / "copy")
    copy.snakemake("--cores", "2", "results/report/tiny.html", "results/report/tiny_regret.html")
    for name, words, absent in (
        ("tiny", "Tiny: summary", "Tiny regret"),
        ("tiny_regret", "Tiny regret", "Tiny: summary"),
    ):
        seen = see((copy.root / f"results/report/{name}.html").read_text("utf-8"), 1280, tmp_path)
        assert seen.problems() == []
        assert words in seen.text
        assert absent not in seen.text


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param("src/pausefl/report/page.py", '"The demo"', '"A demo"', id="code"),
        pytest.param("src/pausefl/report/page.css", "--ink: #", "--ink:#", id="style"),
        pytest.param(
            "src/pausefl/report/page.html.jinja",
            "<h2>Deviations</h2>",
            "<h2>All deviations</h2>",
            id="template",
        ),
        pytest.param("src/pausefl/figures/words/summary.md.jinja", "Means ±", "The means ±", id="caption"),
        pytest.param("docs/deviations.md", "# Deviation ledger", "# The ledger", id="ledger"),
    ],
)
def test_an_edit_of_the_report_remakes_the_report_alone(
    copy: Checkout, path: str, old: str, new: str
) -> None:
    copy.edit(path, old, new)
    assert copy.planned() == {"report": 1}
