"""A web server on this machine that has the files of a folder."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class _Handler(SimpleHTTPRequestHandler):
    """Where there is a file ``NAME.half``, it sends half of NAME and hangs up."""

    def log_message(self, *args: object) -> None:
        pass

    def copyfile(self, source: Any, outputfile: Any) -> None:
        content = source.read()
        halved = Path(f"{self.translate_path(self.path)}.half").exists()
        outputfile.write(content[: len(content) // 2] if halved else content)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
