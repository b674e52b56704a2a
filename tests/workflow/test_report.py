"""The report, made by the workflow and opened in a browser."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from browser import see
from workspace import Checkout, make_small_checkout

pytestmark = pytest.mark.slow

CLAIMS = [
    {
        "id": "T1",
        "sentence": "No user leaks more than its budget.",
        "place": "here",
        "tests": [{"kind": "bound", "scenarios": {"demo": ["tiny"]}}],
    },
    {
        "id": "T2",
        "sentence": "Nobody has run this.",
        "place": "elsewhere",
        "tests": [{"kind": "bound", "scenarios": {"paper": ["mnist_large_iid_r1"]}}],
    },
]
PICTURE = 'src="data:image/png;base64,'


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout whose report has a scenario, its claims and four studies; not to be changed."""
    checkout = make_small_checkout(tmp_path_factory.mktemp("report"), CLAIMS)
    checkout.snakemake("--cores", "2", "studies")
    checkout.snakemake("--cores", "2")
    return checkout


@pytest.fixture(scope="module")
def page(finished: Checkout) -> str:
    """The report of everything."""
    return (finished.root / "results/report/all.html").read_text("utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 800])
def test_a_browser_finds_nothing_wrong(page: str, width: int, tmp_path: Path) -> None:
    seen = see(page, width, tmp_path)
    assert seen.problems() == []
    assert seen.inner == width
    assert seen.sections == ["claims", "figures", "configuration", "deviations", "cost", "environment"]
    assert seen.images == page.count("<img ") == 11
    for words in (
        "Judged on runs at demo scale",
        "No user leaks more than its budget.",
        "Not run for this report: BSFL, Figs. 2 to 10",
        "Not run: Figs. 1 to 3 and 5 to 15, Table I, Theorem 3",
        "Tiny: test accuracy against simulated time.",
        "One seed only (0).",
        "Tiny regret: pseudo-regret against rounds.",
        "annealing keeps the best set seen, not the last one accepted",
        "n_selected: 2",
        "core-hours",
        "handwritten digits of scikit-learn",
    ):
        assert words in seen.text, words


@pytest.mark.browser
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        pytest.param(PICTURE, f"{PICTURE}AAAA", "broken picture: ", id="picture"),
        pytest.param('href="#claims"', 'href="#verdicts"', "dead link: #verdicts", id="link"),
        pytest.param(
            "<header>", '<header><img alt="x" src="https://a.invalid/b.png">', "fetched: ", id="fetched"
        ),
        pytest.param(
            "<header>", '<header><div style="width: 1400px">x</div>', "px wide in a window of", id="width"
        ),
        pytest.param("<header>", '<header id="cost">', "id is there twice: cost", id="id"),
    ],
)
def test_the_browser_would_find_it(page: str, tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in page
    assert problem in " ".join(see(page.replace(old, new, 1), 1280, tmp_path).problems())


def test_every_figure_of_the_workflow_is_in_the_report(finished: Checkout, page: str) -> None:
    pictures = [*(finished.root / "results/figures").rglob("*.png")]
    pictures += (finished.root / "results/studies").rglob("*.png")
    embedded = re.findall(r'<img src="(data:[^"]+)"', page)
    assert len(embedded) == len(set(embedded)) == len(pictures) + 1  # and a partition


@pytest.mark.browser
def test_a_report_of_a_scenario_and_of_a_study(finished: Checkout, tmp_path: Path) -> None:
    finished.snakemake("--cores", "2", "results/report/tiny.html", "results/report/tiny_gap.html")
    for name, words, absent in (("tiny", "Tiny: test", "Tiny gap"), ("tiny_gap", "Tiny gap", "Tiny: test")):
        seen = see((finished.root / f"results/report/{name}.html").read_text("utf-8"), 1280, tmp_path)
        assert seen.problems() == []
        assert words in seen.text
        assert absent not in seen.text


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param("src/pausefl/report/metadata.py", '_cost("all"', '_cost("total"', id="code"),
        pytest.param("src/pausefl/report/page.css", "--ink: #", "--ink:#", id="style"),
        pytest.param("src/pausefl/report/page.html.jinja", "<h2>Cost</h2>", "<h2>Costs</h2>", id="template"),
        pytest.param("src/pausefl/registry/figures.py", "Means ±", "The means ±", id="caption"),
        pytest.param("docs/deviations.md", "# Deviation ledger", "# The ledger", id="ledger"),
    ],
)
def test_an_edit_of_the_report_remakes_the_report_alone(
    finished: Checkout, tmp_path: Path, path: str, old: str, new: str
) -> None:
    shutil.copytree(finished.root, tmp_path / "copy")
    copy = Checkout(tmp_path / "copy")
    copy.edit(path, old, new)
    assert copy.planned() == {"write_report": 1}


def test_an_unknown_report_is_refused(checkout: Checkout) -> None:
    output = checkout.snakemake("--cores", "1", "-n", "results/report/nothing.html", ok=False)
    assert "MissingRuleException" in output
