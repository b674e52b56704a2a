"""Size of a report, and seconds until a Chromium without a screen has painted, loaded and completed it.

    python benchmarks/report.py results/report/all.html

Each turn starts a browser with an empty cache. Times count from the start of navigation.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

#: Waits until no figure is packed any more, then says when what happened.
PROBE = """
<script>
addEventListener('load', async () => {
  const loaded = performance.now();
  const linked = () => [...document.querySelectorAll('a > img')].every((image) => image.parentElement.href);
  while (!linked()) await new Promise((resolve) => setTimeout(resolve, 5));
  const complete = performance.now();
  const painted = performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null;
  const body = JSON.stringify({ painted, loaded, complete });
  fetch('http://127.0.0.1:PORT/', { method: 'POST', mode: 'no-cors', body });
});
</script>
"""


class Listener(BaseHTTPRequestHandler):
    """Keeps what the page says."""

    said: ClassVar[list[dict[str, float | None]]] = []

    def do_POST(self) -> None:
        """Read milliseconds since the start of navigation."""
        self.said.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Say nothing about requests."""


def opened(command: str, page: str) -> dict[str, float | None]:
    """Milliseconds of one opening."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        HTTPServer(("", 0), Listener) as server,
    ):
        server.timeout = 60
        file = Path(folder) / "page.html"
        file.write_text(page + PROBE.replace("PORT", str(server.server_port)), "utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
        own = (f"--user-data-dir={folder}/profile", "--remote-debugging-port=0", file.as_uri())
        browser = subprocess.Popen([command, *options, *own], stderr=subprocess.DEVNULL)
        n_said = len(Listener.said)
        try:
            server.handle_request()
        finally:
            browser.terminate()
            browser.wait()
    if len(Listener.said) == n_said:
        raise SystemExit("the page did not load within 60 s")
    return Listener.said[-1]


def main() -> None:
    """Measure the reports named in the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    command = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if command is None:
        raise SystemExit(f"no browser: install one of {', '.join(BROWSERS)}")
    print("| report | MB | painted (s) | loaded (s) | complete (s) |\n| :-- | --: | --: | --: | --: |")
    for path in arguments.reports:
        page = path.read_text("utf-8")
        turns = [opened(command, page) for _ in range(arguments.turns)]
        medians = [
            statistics.median(1e-3 * (turn[key] or float("nan")) for turn in turns)
            for key in ("painted", "loaded", "complete")
        ]
        print(f"| {path} | {path.stat().st_size / 1e6:.2f} | {' | '.join(f'{s:.2f}' for s in medians)} |")


if __name__ == "__main__":
    main()
