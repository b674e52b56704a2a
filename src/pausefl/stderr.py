"""Standard error that may be closed or full: no job fails because nobody hears how far it is."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO, cast


class _Heard:
    """A text stream that writes to the first of some streams that takes it; the others are gone for good."""

    def __init__(self, *streams: TextIO) -> None:
        self._streams = list(streams)

    def write(self, text: str) -> int:
        while True:
            try:
                self._streams[0].write(text)
                self._streams[0].flush()
            except (OSError, ValueError):  # full, hung up, or closed
                self._drop()
            else:
                return len(text)

    def flush(self) -> None:
        """Do nothing: every text is flushed."""

    def _drop(self) -> None:
        stream = self._streams.pop(0)
        if stream is sys.__stderr__:  # Python would fail at its end for what is still in the buffer
            with Path(os.devnull).open("w", encoding="utf-8") as null, suppress(OSError, ValueError):
                os.dup2(null.fileno(), stream.fileno())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._streams[0], name)


@contextmanager
def heard() -> Iterator[None]:
    """Send what standard error does not take to standard output, and nowhere if that fails, too.

    Characters that standard output does not have are replaced there; standard error does so anyhow.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # or a result would get this number, and the messages of libraries in it
            os.open(os.devnull, os.O_RDWR)
    before = sys.stderr
    with Path(os.devnull).open("w", encoding="utf-8") as null:
        streams = (stream for stream in (before, sys.stdout, null) if stream is not None)
        sys.stderr = cast("TextIO", _Heard(*streams))
        try:
            yield
        finally:
            sys.stderr = before
