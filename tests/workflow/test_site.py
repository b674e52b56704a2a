"""The site of `make site`: it builds strictly, its links lead somewhere, and it needs no other host."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from browser import see
from workspace import ROOT

import pausefl

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LINTERS = re.search(r"^lint:.*\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


class Page(HTMLParser):
    """Ids of a page, what its links lead to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        self.ids.add(values.get("id", ""))
        self.links += [values["href"]] if tag == "a" and "href" in values else []
        if tag != "a" and values.get("rel") not in ("next", "prev", "search", "index", "canonical"):
            self.loaded += [values[key] for key in ("src", "href", "data") if key in values]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` does; the notebooks run."""
    pytest.importorskip("myst_nb", reason="the extra docs is not installed: make .venv/docs")
    folder = tmp_path_factory.mktemp("site")
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--conf-dir", str(ROOT / "site")]
    places = ["--doctree-dir", str(folder / "doctrees"), str(ROOT), str(folder / "site")]
    command = [sys.executable, "-m", "sphinx", *strict, *places]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Pages of the site by path; the demo's report is not one of them."""
    return {path: Page(path) for path in site.rglob("*.html") if path.name != "demo.html"}


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    dead = []
    n_links = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            n_links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].ids):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []
    assert n_links > 1000


@pytest.mark.slow
def test_every_page_of_the_repository_is_in_the_contents(site: Path, pages: dict[Path, Page]) -> None:
    listed = {
        (site / urlsplit(link).path).resolve()
        for link in pages[site / "index.html"].links
        if not urlsplit(link).scheme
    }
    documents = [*(ROOT / "docs").glob("*.md"), *NOTEBOOKS, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    wanted = {(site / path.relative_to(ROOT)).with_suffix(".html") for path in documents}
    assert wanted - listed == set()


@pytest.mark.slow
def test_the_site_loads_nothing_from_other_hosts(site: Path, pages: dict[Path, Page]) -> None:
    loaded = [address for page in pages.values() for address in page.loaded]
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    loaded += re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", styles)
    assert len(loaded) > 100
    assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []


@pytest.mark.slow
def test_it_has_all_names_of_the_library(site: Path, pages: dict[Path, Page]) -> None:
    ids = pages[site / "site/api.html"].ids
    assert {f"pausefl.{name}" for name in pausefl.__all__} <= ids


@pytest.mark.slow
def test_it_has_the_graphs_of_rules(site: Path) -> None:
    drawn = re.findall(r'<object data="([^"]+\.svg)"', (site / "site/rules.html").read_text("utf-8"))
    demo, everything, published = [(site / "site" / path).read_text("utf-8") for path in drawn]
    for graph in (demo, everything, published):
        assert "claims" in graph
    assert "download" in everything
    assert "job" in demo
    assert "prepare" not in published


@pytest.mark.slow
def test_notebooks_show_what_their_words_say(site: Path) -> None:
    own, published = [(site / f"notebooks/{path.stem}.html").read_text("utf-8") for path in NOTEBOOKS]
    for page in (own, published):
        assert 'src="../_images/' in page
        assert page.count('<table border="1" class="dataframe">') >= 2
    # Of PAUSE's rounds and random selection's.
    ratio = {
        key: float(re.search(rf"^{key} +([\d.]+)$", published, re.M)[1]) for key in ("mean", "min", "max")
    }  # type: ignore[index]
    assert 0.595 < ratio["mean"] < 0.605
    assert ratio["max"] < 0.65
    # A small pool is fast and spends the budgets of a few users; a pool of all is even.
    rows = {
        name: [float(number) for number in re.findall(r"<td>([\d.]+)</td>", row)]
        for name, row in re.findall(r"<th>(PAUSE|Pool of \d+)</th>(.*?)</tr>", own, re.DOTALL)
    }
    (small, pause, full) = (rows[name] for name in ("Pool of 3", "PAUSE", "Pool of 12"))
    assert small[0] < pause[0] / 2
    assert small[1] > pause[1] > full[1]
    assert small[2] < 6
    assert pause[2] == full[2] == 12


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "page",
    [
        "index",
        "docs/verdicts",
        "docs/design",
        "site/api",
        "site/rules",
        *(f"notebooks/{path.stem}" for path in NOTEBOOKS),
    ],
)
def test_a_page_fits_a_phone_and_a_laptop(site: Path, page: str) -> None:
    path = site / f"{page}.html"
    for width in (390, 1366):
        seen = see(path.read_text("utf-8"), width, path.parent)
        assert seen.width <= seen.inner
        assert seen.broken == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert path.stat().st_size < 200_000


def test_a_commit_is_checked_by_the_linters_of_make_lint() -> None:
    assert LINTERS
    linters = [line.strip().replace("$(BIN)", ".venv/bin") for line in LINTERS[1].splitlines()]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"][0]["hooks"]
    assert [hook["entry"] for hook in hooks] == linters


def test_github_runs_the_parts_of_ci() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text("utf-8"))["jobs"]
    run = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    parts = re.findall(r"^(?:make |\.ci/).+$", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)
    assert len(parts) == 4
    assert set(parts) <= run
