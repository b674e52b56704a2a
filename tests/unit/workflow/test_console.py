"""What is printed of the records of a run; whole runs are in tests/workflow."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pausefl.workflow.progress import Step
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

    def job(self, number: int, now: float, **wildcards: str) -> None:
        self(now, event=LogEvent.JOB_INFO, jobid=number, rule_name="job", rule_msg=None, wildcards=wildcards)
        self(now, event=LogEvent.JOB_STARTED, jobs=[number])


@pytest.fixture
def told() -> Told:
    """Four steps of 60 s on one core, of which the first starts after 10 s."""
    told = Told()
    told(1000, "Building DAG of jobs...")
    told(1000, event=LogEvent.RESOURCES_INFO, cores=1)
    told(1000, event=LogEvent.RUN_INFO, stats={"job": 4, "total": 4})
    told(1000, "4 steps", steps={n: Step("job", 60.0) for n in range(4)})
    told.job(0, 1010, scenario="tiny", selector="pause", seed="0")
    return told


def test_lines_and_the_state_of_a_run(told: Told) -> None:
    assert told.run.state(1015) == (0, "0 of 4, 15 s so far: train tiny pause seed 0")
    first = told(1070, event=LogEvent.JOB_FINISHED, job_id=0)
    assert first == "1 of 4  train tiny pause seed 0  1 min 00 s  (1 min 10 s so far)"
    told.job(1, 1070, scenario="tiny", selector="pause", seed="1")
    second = told(1130, event=LogEvent.JOB_FINISHED, job_id=1)
    assert second.endswith("(2 min 10 s so far, about 2 min left)")
    told.job(2, 1130, scenario="tiny", selector="pause", seed="2")
    share, text = told.run.state(1200)
    assert share == 0.5
    assert text == "2 of 4, 3 min 20 s so far, about 2 min left: train tiny pause seed 2"


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
