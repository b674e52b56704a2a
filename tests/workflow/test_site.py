"""The site of `make site`: it builds strictly, its links lead somewhere, and it needs no other host."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from workspace import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


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
