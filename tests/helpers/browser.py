"""A page as a browser without a screen sees it: pictures, links, what is fetched, how wide it is."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

#: Runs in the page once all is loaded, opens what can be opened, and leaves what it found in the document.
_PROBE = """
<script>
addEventListener('load', async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  all('details').forEach((details) => { details.open = true; });
  all('img').forEach((image) => { image.loading = 'eager'; });
  await Promise.allSettled(all('img').map((image) => image.decode()));
  const local = (address) => /^(data:|blob:|#|\\.\\.\\/|file:)/.test(address);
  const named = all('[src], link[href], object[data], [poster], [srcset]').map((element) =>
    ['src', 'href', 'data', 'poster', 'srcset'].map((key) => element.getAttribute(key)).find(Boolean));
  const found = {
    broken: all('img').filter((image) => !image.naturalWidth).map((image) => image.alt),
    blurred: all('img').filter((image) => image.naturalWidth < 2 * image.clientWidth)
      .map((image) => image.alt),
    cut: all('.claims .badge, .claims .strip, .outcome')
      .filter((verdict) => verdict.getBoundingClientRect().right > innerWidth)
      .map((verdict) => verdict.textContent),
    unnamed: all('img').filter((image) => !image.alt.trim()).length,
    images: all('img').length,
    dead: all('a[href^="#"]').map((link) => link.getAttribute('href').slice(1))
      .filter((id) => !document.getElementById(id)),
    repeated: all('[id]').map((element) => element.id).filter((id, i, ids) => ids.indexOf(id) !== i),
    fetched: [...named, ...performance.getEntriesByType('resource').map((entry) => entry.name)]
      .filter((address) => !local(address)),
    inner: innerWidth,
    width: document.documentElement.scrollWidth,
    sections: all('main > section').map((section) => section.id),
    text: document.body.innerText,
  };
  fetch('http://127.0.0.1:PORT/', { method: 'POST', mode: 'no-cors', body: JSON.stringify(found) });
});
</script>
"""


class Seen(SimpleNamespace):
    """What a browser made of a page, under the names in the probe.

    Pictures that are `broken` do not show; those `blurred` have too few pixels for a zoom of 200 %. A reader
    would have to scroll to the right for verdicts that are `cut`. Links that are `dead` lead nowhere in the
    page, ids that are `repeated` are not unique, and what is `fetched` comes from a network.
    """

    def problems(self) -> list[str]:
        """Everything that a reader would stumble over."""
        found = [f"broken picture: {alt}" for alt in self.broken]
        found += [f"blurred picture: {alt}" for alt in self.blurred]
        found += [f"verdict out of sight: {words}" for words in self.cut]
        found += [f"{self.unnamed} pictures without a description"] if self.unnamed else []
        found += [f"dead link: #{target}" for target in self.dead]
        found += [f"id is there twice: {name}" for name in self.repeated]
        found += [f"fetched: {address}" for address in self.fetched]
        found += [f"{self.width} px wide in a window of {self.inner}"] if self.width > self.inner else []
        return found


def browser() -> str:
    """The command of a Chromium; skips the test where there is none."""
    names: Sequence[str] = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip(f"no browser: install one of {', '.join(names)}")
    return found


def see(page: str, width: int, folder: Path, home: Path | None = None) -> Seen:
    """Open a page of HTML in a frame of this width, in pixels; ``folder`` is for files of the browser.

    ``home`` is the folder of the page, from which it names its pictures.
    """
    if home is not None:
        page = page.replace("<head>", f'<head><base href="{home.as_uri()}/">', 1)
    said: list[bytes] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        server.timeout = 240
        probe = _PROBE.replace("PORT", str(server.server_port))
        (folder / "page.html").write_text(page + probe, "utf-8")
        # A window has at least 500 pixels, a frame any width.
        file = folder / "frame.html"
        frame = f'<iframe src="page.html" style="width: {width}px; height: 900px; border: 0"></iframe>'
        file.write_text(f'<body style="margin: 0">{frame}', "utf-8")
        options = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        )
        own = (f"--user-data-dir={folder / 'profile'}", "--window-size=1400,900")
        stay = "--remote-debugging-port=0"  # or the browser ends as soon as the page is loaded
        process = subprocess.Popen(
            [browser(), *options, *own, stay, file.as_uri()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        server.handle_request()
        process.terminate()
        _, errors = process.communicate()
    assert said, errors.decode(errors="replace")
    return Seen(**json.loads(said[0]))
