"""What is printed of the records of a run; whole runs are in tests/workflow."""

from __future__ import annotations

import io
import logging
import os
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent

from pausefl.progress import bar
from pausefl.workflow.progress import Forecast, Step
from snakemake_logger_plugin_pausefl.run import Run, title


class Told:
    """A run that a test tells what happens, at times of its choice."""

    def __init__(self, dryrun: bool = False) -> None:
        self.run = Run(dryrun)

    def __call__(self, now: float, text: str = "", event: LogEvent | None = None, **values: Any) -> str:
        record = logging.LogRecord("snakemake", logging.INFO, "", 0, text, None, None)
        record.created = now
        vars(record).update(values, event=event)
        return self.run.said(record, lambda record: "what Snakemake prints")

    def job(self, number: int, now: float, log: Path | None = None, **wildcards: str) -> None:
        about = {"rule_name": "job", "rule_msg": None, "wildcards": wildcards}
        self(now, event=LogEvent.JOB_INFO, jobid=number, log=[str(log)] if log else [], **about)
        self(now, event=LogEvent.JOB_STARTED, jobs=[number])


@pytest.fixture
def told() -> Told:
    """Four steps of 60 s on one core, of which the first starts after 10 s."""
    told = Told()
    told(1000, "Building DAG of jobs...")
    told(1000, event=LogEvent.RUN_INFO, stats={"job": 4, "total": 4})
    told(1000, "4 steps", forecast=Forecast({n: Step("job", 60.0) for n in range(4)}, 1))
    told.job(0, 1010, scenario="tiny", selector="pause", seed="0")
    return told


def test_lines_and_the_state_of_a_run(told: Told) -> None:
    assert told.run.state(1015) == (0, "0 of 4, 15 s so far\ntrain tiny pause seed 0")
    first = told(1070, event=LogEvent.JOB_FINISHED, job_id=0)
    assert first == "1 of 4  train tiny pause seed 0  1 min 00 s  (1 min 10 s so far)"
    told.job(1, 1070, scenario="tiny", selector="pause", seed="1")
    second = told(1130, event=LogEvent.JOB_FINISHED, job_id=1)
    assert second.endswith("(2 min 10 s so far, about 2 min left)")
    told.job(2, 1130, scenario="tiny", selector="pause", seed="2")
    share, text = told.run.state(1200)
    assert share == 0.5
    assert text == "2 of 4, 3 min 20 s so far, about 1 min left\ntrain tiny pause seed 2"


def lines(text: str, start: float, log: Path) -> None:
    """A log as a script that started at a time writes it."""
    log.write_text("".join(f"2026-11-24 14:41:00 {line}\n" for line in text.split("\n")), "utf-8")
    os.utime(log, (start, start))


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("started\nround 1 of 300 runs; it may compile kernels", "round 1 of 300: "),
        ("started\nround 99 of 300, 1 simulated s\nround 116 of 300, 2 simulated s", "round 116 of 300: "),
        ("started\nround 4, 2 of 5 simulated s", "round 4: "),
        ("\n".join(["round 7 of 9, no privacy", *["x" * 100] * 3]), "round 7 of 9: "),
        ("started\nthe state of another round 3 is discarded", ""),
        ("started", ""),
        (None, ""),
    ],
)
def test_the_round_of_a_job_is_what_its_log_says(
    told: Told, tmp_path: Path, log: str | None, said: str
) -> None:
    file = tmp_path / "seed-1.log"
    told.job(0, 1010, file, scenario="tiny", selector="pause", seed="1")
    if log is not None:
        lines(log, 1011, file)
    assert told.run.state(1015)[1] == f"0 of 4, 15 s so far\n{said}train tiny pause seed 1"


def test_a_log_of_an_earlier_attempt_says_no_round(told: Told, tmp_path: Path) -> None:
    file = tmp_path / "seed-1.log"
    lines("started\nround 116 of 300, 2 simulated s", 1009, file)
    told.job(0, 1010, file, scenario="tiny", selector="pause", seed="1")
    assert "round" not in told.run.state(1015)[1]


def test_the_bar_shows_the_round_at_80_columns(tmp_path: Path) -> None:
    """Of a run of many steps with long names, after hours."""
    told, log = Told(), tmp_path / "seed-2.log"
    told(0, event=LogEvent.RUN_INFO, stats={"total": 1205})
    told(0, "1205 steps", forecast=Forecast({n: Step("job", 60.0) for n in range(1205)}, 1))
    wildcards = {"scenario": "cifar10_large_dirichlet_time_r2", "selector": "clustered_similarity"}
    for number in range(3):
        told.job(number, 0, log, **wildcards, seed=str(number))
    for number in range(2):
        told(60, event=LogEvent.JOB_FINISHED, job_id=number)
    lines("round 1160 of 3000, 2 simulated s", 1, log)
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with bar(console, lambda: told.run.state(7800)):
        pass
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())  # type: ignore[attr-defined]
    first, second = (line.rstrip() for line in shown.splitlines() if line.strip())
    assert re.fullmatch(r"━[━╺]{23} 2 of 1205, 2 h 10 min so far, about [\d.]+ h left", first)
    assert second == "round 1160 of 3000: train cifar10_large_dirichlet_time_r2 clustered_similarity …"


def test_a_cluster_has_no_estimate() -> None:
    told = Told()
    told(0, event=LogEvent.RUN_INFO, stats={"job": 9, "total": 9})
    for number in range(3):
        told.job(number, 0, seed="1")
        line = told(100, event=LogEvent.JOB_FINISHED, job_id=number)
    assert line.endswith("(1 min 40 s so far)")


def test_a_step_that_fails_and_succeeds_when_tried_again_has_not_failed(told: Told) -> None:
    said = "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'. "
    error = {"rule_name": "job", "rule_msg": said, "aux": {}, "shellcmd": None, "log": []}
    text = told(1020, event=LogEvent.JOB_ERROR, jobid=0, **error)
    assert "FAILED: train tiny pause seed 0" in text
    assert "  SLURM-job '7' failed, SLURM status is: 'TIMEOUT'." in text
    assert told(1020, "Trying to restart job 0.") == "Trying to restart job 0."
    told(1020, event=LogEvent.JOB_STARTED, jobs=[0])
    told(1080, event=LogEvent.JOB_FINISHED, job_id=0)
    assert told.run.ending() == ""


def test_what_is_not_known_to_be_noise_is_shown(told: Told) -> None:
    assert told(1100, "Select jobs to execute...") == ""
    assert told(1100, "Submitted array job 7") == "Submitted array job 7"


@pytest.mark.parametrize(
    ("rule", "wildcards", "words"),
    [
        ("job", {"scenario": "tiny", "selector": "pause", "seed": "3"}, "train tiny pause seed 3"),
        ("plot_figure", {"scenario": "tiny", "kind": "loss_vs_time"}, "plot figure tiny loss_vs_time"),
        ("all", {}, "all"),
    ],
)
def test_titles(rule: str, wildcards: dict[str, str], words: str) -> None:
    assert title(rule, wildcards) == words


def test_a_long_title_keeps_its_ends() -> None:
    text = title("partition", {"dataset": "x" * 100, "seed": "4"})
    assert len(text) <= 72
    assert text.startswith("partition xxx")
    assert text.endswith("xxx seed 4")


@pytest.mark.parametrize("outcome", ["done", "nothing to do", "failed", "dry run"])
def test_a_run_ends_with_where_its_results_are(outcome: str) -> None:
    told = Told(dryrun=outcome == "dry run")
    told(1000, results=lambda: "Report:  results/report/all.html")
    if outcome == "nothing to do":
        told(1000, "Nothing to be done (all requested files are present and up to date).")
    else:
        told(1000, event=LogEvent.RUN_INFO, stats={"job": 1, "total": 1})
        told.job(0, 1000, scenario="tiny", selector="pause", seed="0")
    if outcome == "done":
        told(1070, event=LogEvent.JOB_FINISHED, job_id=0)
    shown = "Report:" in told.run.ending()
    assert shown == (outcome in ("done", "nothing to do"))
