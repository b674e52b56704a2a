"""A run of Snakemake as its log records tell it, in the words of a user."""

from __future__ import annotations

import logging
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.common import LogEvent

#: What Snakemake says that tells a user nothing, or that is said in other words here.
_NOISE = re.compile(
    r"None$|Building DAG of jobs|Using shell:|Select jobs to execute|Assuming unrestricted shared filesystem"
    r"|Complete log|Elapsed time|Some jobs were triggered by provenance|Rules with provenance"
    r"|Singularity containers: ignored|Shutting down, this might"
    r"|Exiting because a job execution failed|WorkflowError:\nAt least one job did not complete successfully"
    r"|Cannot restore |Restored previous version"
    r"|Removing output files of failed job|--keep-incomplete mode is set"
    r"|\d+ jobs have (missing|outdated) provenance"
)
#: Rules of training jobs, of one or of several.
_TRAINS = re.compile(r"job$|jobs_\d+$")
#: How Snakemake says that a user stops it, by SIGINT or SIGTERM.
_STOPS = ("Terminating processes on user request", "Will exit after finishing currently running jobs")
#: How a process ended, in what Snakemake says of a failed script.
_STATUS = re.compile(r"died with <Signals\.(\w+)|returned non-zero exit status (\d+)")
#: How far a training job is, as its log says every 30 s.
_ROUND = re.compile(r"^\S+ \S+ (round \d+(?: of \d+)?)", re.M)
#: Bytes at the end of a log in which its last line is.
_TAIL = 1000
#: Lines of a log, and characters of a line, that are shown of a failed step.
_LOG_LINES, _LOG_WIDTH = 30, 300
#: Most characters of a title, and of a line of the table of a dry run.
_TITLE, _WIDTH = 72, 110


class Run:
    """What happened so far, and what to print of it.

    Parameters
    ----------
    dryrun
        Whether nothing will run.
    """

    def __init__(self, dryrun: bool = False) -> None:
        self.dryrun = dryrun
        self.begun: float | None = None
        self.n_steps = self.n_done = 0
        self.forecast: Any = None
        self.results: Callable[[], str] = str
        self.nothing_to_do = False
        self.titles: dict[int, str] = {}
        self.logs: dict[int, tuple[Path, ...]] = {}
        self.running: dict[int, float] = {}
        self.failed: dict[int, str] = {}
        self.planned: dict[str, Counter[str]] = {}
        self.counts: Mapping[str, int] = {}
        self.stopped = False
        self._errors: list[str] = []
        self.log_file = ""

    def said(self, record: logging.LogRecord, default: Callable[[logging.LogRecord], str]) -> str:
        """What to print of a record of Snakemake's logger; ``default`` is what Snakemake prints."""
        now = record.created
        self.begun = now if self.begun is None else self.begun
        match getattr(record, "event", None):
            case None:
                return self._message(record)
            case LogEvent.RUN_INFO:
                self._counted(record.stats)  # type: ignore[attr-defined]
            case LogEvent.JOB_INFO:
                self._planned(record)
            case LogEvent.JOB_STARTED:
                for number in record.jobs:  # type: ignore[attr-defined]
                    self._start(number, now)
            case LogEvent.JOB_FINISHED:
                return self._finish(record.job_id, now)  # type: ignore[attr-defined]
            case LogEvent.JOB_ERROR:
                return self._fail(record, now)
            case LogEvent.GROUP_ERROR | LogEvent.SHELLCMD | LogEvent.DEBUG_DAG:
                return default(record)
            case LogEvent.ERROR:
                return self._error(record.getMessage())
        return ""

    def state(self, now: float) -> tuple[float, str]:
        """The share of the steps that are done; how many, for how long, the time left; below, what runs."""
        text = ", ".join([f"{self.n_done} of {self.n_steps}", *self._times(now)])
        if running := list(self.running.items()):
            number, since = running[0]
            more = f" and {len(running) - 1} more" if len(running) > 1 else ""
            # The round comes first: a narrow terminal cuts the end.
            at = [_round(log, since) for log in self.logs.get(number, ())]
            text += f"\n{''.join(at)}{self.titles.get(number, '')}{more}"
        return self.n_done / max(self.n_steps, 1), text

    def ending(self) -> str:
        """What to print last."""
        lines = []
        if self.dryrun and self.counts:
            lines.append(self._table(self.counts))
        if self.stopped:
            lines.append(
                f"Stopped after {self.n_done} of {self.n_steps} steps. Run the same command again to go on."
            )
        elif self.failed:
            lines.append(f"\nFailed: {len(self.failed)} of {self.n_steps} steps; done: {self.n_done}.")
            if len(self.failed) > 1:
                lines += [f"  {title}" for title in self.failed.values()]
            lines.append("Correct what the log above says and run the same command: what is done stays done.")
        elif (
            (self.nothing_to_do or 0 < self.n_steps == self.n_done)
            and not self.dryrun
            and (text := self.results())
        ):
            lines.append(f"\n{text}")
        lines += self._errors
        if self.log_file:
            lines.append(f"Everything that Snakemake said: {self.log_file}")
        return "\n".join(lines)

    def _message(self, record: logging.LogRecord) -> str:
        """A message of its own; the workflow may give its forecast, or its results, along with one."""
        text = record.getMessage()
        self.forecast = getattr(record, "forecast", self.forecast)
        self.results = getattr(record, "results", self.results)
        self.nothing_to_do |= text.startswith("Nothing to be done")
        if text.startswith(_STOPS):
            again, self.stopped = self.stopped, True
            return "" if again else "Stopping; what runs ends first, or saves its state."
        if text.startswith("Complete log"):
            self.log_file = text.partition(":")[2].strip()
        if text.startswith("Reasons:"):
            return _reasons(text)
        # The failures say by themselves that there are some; of a failed batch, its log says what is there.
        told = ("Exiting because a job", "Cannot restore ", "Restored previous version")
        said = record.levelno >= logging.WARNING and not text.startswith(told)
        return text if said or not _NOISE.match(text) else ""

    def _counted(self, stats: Mapping[str, int]) -> None:
        """Take note of the number of steps; a dry run says it twice, and prints it at its end."""
        self.counts = stats
        self.n_steps = 0 if self.dryrun else stats["total"]

    def _planned(self, record: Any) -> None:
        """Take note of a job's title, and in a dry run of what it is for."""
        self.titles[record.jobid] = record.rule_msg or title(record.rule_name, record.wildcards)
        self.logs[record.jobid] = tuple(map(Path, record.log))
        first = next(iter(record.wildcards.values()), "")
        self.planned.setdefault(record.rule_name, Counter())[first] += 1

    def _start(self, number: int, now: float) -> None:
        self.running[number] = now
        if self.forecast is not None:
            self.forecast.start(number, now)

    def _end(self, number: int, now: float) -> float:
        """Seconds that a step took."""
        if self.forecast is not None:
            self.forecast.finish(number, now)
        return now - self.running.pop(number, now)

    def _finish(self, number: int, now: float) -> str:
        from pausefl.progress import took

        self.n_done += 1
        seconds = self._end(number, now)
        self.failed.pop(number, None)
        count = f"{self.n_done:{len(str(self.n_steps))}} of {self.n_steps}"
        return f"{count}  {self.titles.get(number, number)}  {took(seconds)}  ({', '.join(self._times(now))})"

    def _times(self, now: float) -> list[str]:
        """The time so far, and from the second finished step on what is left.

        On a cluster, whose queue nobody knows, there is no estimate.
        """
        from pausefl.progress import about, took

        so_far = f"{took(0.0 if self.begun is None else now - self.begun)} so far"
        if self.forecast is None or not 1 < self.n_done < self.n_steps:
            return [so_far]
        return [so_far, f"{about(self.forecast.seconds_left(now))} left"]

    def _fail(self, record: Any, now: float) -> str:
        """A failed step: what it is, where its log is, the end of the log, and what to do."""
        from pausefl.progress import took

        number = record.jobid
        name = self.titles.get(number, record.rule_name)
        seconds, status = self._end(number, now), self._status()
        if self.stopped:
            return f"stopped: {name}"
        self.failed[number] = name
        lines = ["", f"FAILED: {name}", f"  rule {record.rule_name} {status}, after {took(seconds)}"]
        if record.rule_msg:  # what Slurm says of it
            lines.append(textwrap.indent(_shortened(record.rule_msg.strip().splitlines()), "  "))
        lines += [f"  {key}: {value}" for key, value in record.aux.items() if value]
        if record.shellcmd:
            lines.append(f"  command: {record.shellcmd}")
        for file in record.log:
            lines += [f"  log: {file}", textwrap.indent(_end_of(Path(file)), "    | ")]
        if not record.log:
            lines.append("  It has no log; what it printed is above.")
        return "\n".join(lines)

    def _error(self, text: str) -> str:
        """An error of Snakemake. That of a failed script is held for what is said of its step."""
        if _NOISE.match(text):
            return ""
        if text.startswith("MissingRuleException"):
            return f"{text}\n`snakemake --list-target-rules` lists what can be asked for."
        if text.startswith("LockException"):
            called = sys.argv[0] if sys.argv[0].endswith("snakemake") else "snakemake"
            return f"{text}\nTo remove it: {called} --unlock. Then run the same command again."
        if _STATUS.search(text):
            self._errors.append(text)
            return ""
        return text

    def _status(self) -> str:
        """How the process of a failed step ended, and what that means."""
        text = self._errors.pop(0) if self._errors else ""
        if not (status := _STATUS.search(text)):
            return "failed"
        if status[1] == "SIGKILL" or status[2] == "137":
            return "was killed, most likely because memory ran out: use fewer --cores"
        return f"ended with {status[1]}" if status[1] else f"ended with exit status {status[2]}"

    def _table(self, counts: Mapping[str, int]) -> str:
        """Jobs by rule, and what they are for."""
        width = max(map(len, [*counts, "job"]))
        lines = ["Job stats:", f"{'job':{width}}  count  for", f"{'-' * width}  -----  ---"]
        for rule, count in counts.items():
            found = sorted(self.planned.get(rule, Counter()).items())
            what = ", ".join(f"{key}\xa0({n})" if n > 1 else key for key, n in found if key)
            head = f"{rule:{width}}  {count:5}"
            wrapped = textwrap.wrap(what, _WIDTH - len(head), break_long_words=False) or [""]
            lines.append(f"{head}  {wrapped[0]}".rstrip())
            lines += [" " * (len(head) + 2) + line for line in wrapped[1:]]
        return "\n".join([*lines, ""]).replace("\xa0", " ")


def title(rule: str, wildcards: Mapping[str, str]) -> str:
    """What a job does: ``train mnist_small_iid_r1 pause seed 0``, or without a selector all small jobs.

    Numbers have the name of their wildcard.
    """
    values = [f"{name} {value}" if value.isdigit() else value for name, value in wildcards.items()]
    text = " ".join(["train" if _TRAINS.match(rule) else rule.replace("_", " "), *values])
    return text if len(text) <= _TITLE else f"{text[: _TITLE // 2]}…{text[-_TITLE // 2 + 1 :]}"


def _reasons(text: str) -> str:
    """Why Snakemake would make files anew, but for what is missing or follows from other steps."""
    pairs = re.findall(r"^    (\w.*):\n {8}(.*)", text, re.M)
    usual = ("output files have to be generated", "input files updated by another job")
    reasons = [f"  {reason}: {rules}" for reason, rules in pairs if reason not in usual]
    return "\n".join(["Files are there, but made anew, because", *reasons, ""]) if reasons else ""


def _round(log: Path, since: float) -> str:
    """``round 116 of 300: `` if the log of a step that started at ``since`` says so; else nothing."""
    try:
        about = log.stat()
        if about.st_mtime < since:  # of an earlier attempt
            return ""
        with log.open("rb") as file:
            file.seek(max(about.st_size - _TAIL, 0))
            said = _ROUND.findall(file.read().decode(errors="replace"))
    except OSError:
        return ""
    return f"{said[-1]}: " if said else ""


def _end_of(log: Path) -> str:
    """The last lines of a log."""
    try:
        lines = log.read_text("utf-8", errors="replace").splitlines() or ["(it is empty)"]
    except OSError:
        return "(there is no such file)"
    more = len(lines) - _LOG_LINES
    return (f"({more} lines before)\n" if more > 0 else "") + _shortened(lines[-_LOG_LINES:])


def _shortened(lines: Sequence[str]) -> str:
    """Lines, long ones without their end."""
    return "\n".join(line if len(line) <= _LOG_WIDTH else f"{line[:_LOG_WIDTH]} …" for line in lines)
