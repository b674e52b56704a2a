"""The site of `make site`: it builds strictly, which follows its links, and it needs no other host."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from workspace import ROOT


class Page(HTMLParser):
    """What a page loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if tag != "a" and values.get("rel") not in ("next", "prev", "search", "index", "canonical"):
            self.loaded += [values[key] for key in ("src", "href", "data") if key in values]


@pytest.mark.slow
def test_the_site_is_built_with_its_notebooks_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    pytest.importorskip("myst_nb", reason="the extra docs is not installed: make .venv/docs")
    site = tmp_path / "site"
    strict = ["--fail-on-warning", "--keep-going", "--quiet", "--conf-dir", str(ROOT / "docs/site")]
    places = ["--doctree-dir", str(tmp_path / "doctrees"), str(ROOT), str(site)]
    command = [sys.executable, "-m", "sphinx", *strict, *places]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [Page(path) for path in site.rglob("*.html")]
    loaded = [address for page in pages for address in page.loaded]
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    loaded += re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", styles)
    assert len(loaded) > 100
    assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []
