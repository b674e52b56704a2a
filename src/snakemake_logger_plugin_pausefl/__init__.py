"""What a workflow prints: a line a finished step, a bar on a terminal, the end of a failed step's log.

Snakemake finds this package by its name, and a profile turns it on: ``logger: [pausefl]``. Snakemake's own
log in ``.snakemake/log`` keeps everything; with ``--verbose`` the terminal shows it, too.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections import Counter
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from pausefl.progress import bar, took

#: What Snakemake says that tells a user nothing, or that is said in other words here.
_NOISE = re.compile(
    r"None$|Building DAG|Using shell:|Select jobs to|Assuming unrestricted|Complete log|Elapsed time"
    r"|Some jobs were triggered by prov|Rules with prov|Singularity containers: ignored|Shutting down, this"
    r"|Exiting because a job|WorkflowError:\nAt least one job|Removing output files of|--keep-incomplete"
    r"|\d+ jobs have (missing|outdated) prov|CalledProcessError"
)
#: How Snakemake says that a user stops it, by SIGINT or SIGTERM.
_STOPS = ("Terminating processes on user request", "Will exit after finishing currently running jobs")
#: How Snakemake says that an input has a later time than what was made from it.
_AHEAD = re.compile(r"Output (\S+) has older modification time \(.*?\) than input (\S+) \((.*?)\)\. ")
#: Results that are named at the end.
_SHOWN = re.compile(r"results/(report|figures|tables|studies|claims)/")
#: Lines of a failed step's log that are shown, and characters of a line.
_LINES, _WIDTH = 30, 300
#: Most steps that a dry run lists: more are no page.
_LISTED = 100


class LogHandler(LogHandlerBase):
    """Prints the events of a workflow, in place of Snakemake's own output."""

    writes_to_stream, writes_to_file, needs_rulegraph = True, False, False
    #: Snakemake's filter applies, so ``--quiet`` does what it always does; and its formatter.
    has_filter = has_formatter = False

    def __post_init__(self) -> None:
        from rich.console import Console  # Snakemake imports every plugin, used or not

        said = self.common_settings
        stream = sys.stdout if said.stdout else sys.stderr
        self.console = Console(file=stream, no_color=said.nocolor or None, highlight=False, soft_wrap=True)
        self.verbose = bool(said.printshellcmds or said.verbose or said.debug_dag)
        self.dryrun, self.stopped, self.ended, self.begun = said.dryrun, False, False, time.time()
        self.n_steps = self.n_done = 0
        self.jobs: dict[int, Any] = {}
        self.running: dict[int, float] = {}
        self.failed: dict[int, str] = {}
        self.bar = ExitStack()

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record says, if that is anything to a user."""
        try:
            self._print(self.format(record) if self.verbose else self._said(record), record.levelno)
        except Exception:  # a line that cannot be shown must not stop the workflow
            self.handleError(record)

    def close(self) -> None:
        """Remove the bar, and say how the run ended. Snakemake calls this more than once."""
        if not self.ended:
            self.ended = True
            self.bar.close()
            if not self.verbose and not self.dryrun:
                self._print(self._ending(), logging.ERROR if self.failed else logging.INFO)
        super().close()

    def _print(self, text: str, level: int) -> None:
        from rich.text import Text

        if text not in ("", "None"):
            style = "red" if level >= logging.ERROR else "yellow" if level >= logging.WARNING else ""
            self.console.print(Text(text, style))

    def _said(self, record: Any) -> str:
        """What to print of a record."""
        text: str = record.getMessage()
        match getattr(record, "event", None):
            case LogEvent.RUN_INFO:
                return self._begin(record)
            case LogEvent.JOB_INFO:
                self.jobs[record.jobid] = record
                return self._title(record.jobid) if self.dryrun and self.n_steps <= _LISTED else ""
            case LogEvent.JOB_STARTED:
                self.running |= dict.fromkeys(record.jobs, record.created)
            case LogEvent.JOB_FINISHED:
                self.n_done += 1
                self.failed.pop(record.job_id, None)
                seconds = record.created - self.running.pop(record.job_id, record.created)
                count = f"{self.n_done:{len(str(self.n_steps))}} of {self.n_steps}"
                return f"{count}  {self._title(record.job_id)}  {took(seconds)}"
            case LogEvent.JOB_ERROR:
                self.running.pop(record.jobid, None)
                return "" if self.stopped else self._failure(record)
            case LogEvent.GROUP_ERROR:
                return self.format(record)
            case None | LogEvent.ERROR if text.startswith(_STOPS):
                again, self.stopped = self.stopped, True
                return "" if again else "Stopping; what runs ends first, or saves its state."
            case None | LogEvent.ERROR if re.search(r"<Signals\.SIGKILL|exit status 137", text):
                return "A step was killed, most likely because memory ran out: use fewer --cores."
            case None | LogEvent.ERROR if ahead := _AHEAD.search(text):
                return _clock(*ahead.groups())
            case None | LogEvent.ERROR if not _NOISE.match(text):
                return text
        return ""

    def _begin(self, record: Any) -> str:
        """Show a bar on a terminal; or, once in a dry run, what there is to do."""
        first, self.n_steps = not self.n_steps, record.stats["total"]
        if first and self.console.file.isatty() and not self.dryrun:
            self.bar.enter_context(bar(self.console, self._state))
        return self.format(record) if first and self.dryrun else ""

    def _title(self, number: int) -> str:
        """A step as ``job demo_small pause seed 0``: numbers have the name of their wildcard."""
        job = self.jobs[number]
        values = [f"{name} {value}" if value.isdigit() else value for name, value in job.wildcards.items()]
        return " ".join([job.rule_name, *values])

    def _state(self) -> tuple[float, str]:
        """The share of steps that are done; how many, for how long; below, what runs."""
        running = [self._title(number) for number in list(self.running)]
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        text = f"{self.n_done} of {self.n_steps}, {took(time.time() - self.begun)} so far\n"
        return self.n_done / max(self.n_steps, 1), text + (running[0] + more if running else "")

    def _failure(self, record: Any) -> str:
        """A failed step: what it is, what Slurm says of it, where its log is, and the end of that."""
        self.failed[record.jobid] = self._title(record.jobid)
        lines = [f"\nFAILED: {self._title(record.jobid)}", *filter(None, (record.rule_msg, record.shellcmd))]
        for file in map(Path, record.log):
            log = file.read_text("utf-8", "replace").splitlines() if file.is_file() else ["(it is missing)"]
            before = [f"({len(log) - _LINES} lines before)"] if len(log) > _LINES else []
            lines += [f"  log: {file}", *(f"    | {line[:_WIDTH]}" for line in before + log[-_LINES:])]
        return "\n".join(lines)

    def _ending(self) -> str:
        """Why the run ended early, or where the results are that were asked for."""
        if self.stopped:
            return (
                f"Stopped after {self.n_done} of {self.n_steps} steps. Run the same command again to go on."
            )
        if self.failed:
            head = f"\nFailed: {len(self.failed)} of {self.n_steps} steps; done: {self.n_done}."
            advice = "Correct what the log says and run the same command: what is done stays done."
            return "\n".join([head, *(f"  {title}" for title in self.failed.values()), advice])
        steps = [job for job in self.jobs.values() if job.output]
        used = {file for job in steps for file in job.input}
        asked = [job.input for job in self.jobs.values() if not job.output]
        asked += [job.output for job in steps if not used.intersection(job.output)]
        files = filter(_SHOWN.match, dict.fromkeys(str(file) for files in asked for file in files))
        # A page is named, of everything else the folder and how many files are there.
        places = Counter(f if f.endswith(".html") else "/".join(f.split("/")[:2]) + "/" for f in files)
        lines = [f"  {place}{f' ({n} files)' if n > 1 else ''}" for place, n in sorted(places.items())]
        return "\n".join(["Results:", *lines]) if lines else ""


def _clock(output: str, source: str, when: str) -> str:
    """What to do about an input from the future; ``when`` is its time, as Snakemake writes it."""
    ahead = took((datetime.fromisoformat(when) - datetime.now()).total_seconds())
    return (
        f"{source} has a time {ahead} ahead of this machine's clock, so all that is made from it looks out of"
        f" date. {output} was made, and profiles/ keep it. If the clock is right: touch {source}, then run"
        " the same command, which finds finished jobs finished."
    )
