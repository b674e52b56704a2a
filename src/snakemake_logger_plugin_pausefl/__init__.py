"""What a workflow prints: a line a finished step, a bar on a terminal, failed steps with their log's end.

Snakemake finds this package by its name, and a profile turns it on: ``logger: [pausefl]``. Snakemake's own
log in ``.snakemake/log`` keeps everything. With ``--printshellcmds``, ``--verbose`` or ``--debug-dag`` the
terminal shows what Snakemake shows by itself. Every Snakemake process imports this, so it imports nothing
large.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase

from snakemake_logger_plugin_pausefl.run import Run

#: Without a terminal, seconds of silence before a line says what runs.
_SILENCE_S = 120.0


class LogHandler(LogHandlerBase):
    """Prints the events of a workflow, in place of Snakemake's own output."""

    writes_to_stream = True
    writes_to_file = False
    #: Snakemake's filter applies, so ``--quiet`` does what it always does; and its formatter, in `emit`.
    has_filter = has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        said = self.common_settings
        self.stream = sys.stdout if said.stdout else sys.stderr
        self.verbose = bool(said.printshellcmds or said.verbose or said.debug_dag)
        self.run = Run(said.dryrun)
        self.printed = time.time()
        self.ended = threading.Event()
        self.bar: ExitStack | None = None
        self.console: Any = None
        if self.stream.isatty():
            from rich.console import Console

            self.console = Console(file=self.stream, no_color=said.nocolor or None)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record says, if that is anything to a user."""
        try:
            text = self.format(record) if self.verbose else self.run.said(record, self.format)
            if text and text != "None":
                self._print(text, record.levelno)
            if self.run.n_steps and self.bar is None and not self.verbose and not self.ended.is_set():
                self._show()
        except Exception:  # a line that cannot be shown must not stop the workflow
            self.handleError(record)

    def close(self) -> None:
        """Remove the bar, and say how the run ended. Snakemake calls this more than once."""
        if not self.ended.is_set():
            self.ended.set()
            if self.bar is not None:
                self.bar.close()
            if not self.verbose and (text := self.run.ending()):
                self._print(text, logging.ERROR if self.run.failed else logging.INFO)
        super().close()

    def _print(self, text: str, level: int) -> None:
        self.printed = time.time()
        if self.console is None:
            print(text, file=self.stream, flush=True)
            return
        style = "red" if level >= logging.ERROR else "yellow" if level >= logging.WARNING else None
        self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    def _show(self) -> None:
        """Show a bar, or without a terminal a line from time to time if nothing else is printed."""
        self.bar = ExitStack()
        if self.console is not None:
            from pausefl.progress import bar

            self.bar.enter_context(bar(self.console, lambda: self.run.state(time.time())))
            return
        threading.Thread(target=self._break_silence, daemon=True).start()

    def _break_silence(self) -> None:
        while not self.ended.wait(1.0):
            if time.time() - self.printed >= _SILENCE_S:
                self._print(self.run.state(time.time())[1].replace("\n", ": "), logging.INFO)
