"""What a workflow prints, on a workflow of a few shell commands."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from workspace import ROOT

SNAKEFILE = """
rule all:
    input: "table.csv"

rule table:
    input: expand("runs/{scenario}/seed-{seed}.txt", scenario=["small", "large"], seed=[0, 1])
    output: "table.csv"
    shell: "touch {output}"

rule job:
    output: "runs/{scenario}/seed-{seed}.txt"
    log: "logs/{scenario}-{seed}.log"
    shell:
        "S={wildcards.scenario}; L={log}; echo 'a first line' > $L; "
        "sleep {config[sleep]}; {config[run]}; touch {output}"
"""


class Workflow:
    """A folder with the workflow in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "Snakefile").write_text(SNAKEFILE, "utf-8")

    def start(self, *arguments: str, run: str = "true", sleep: float = 0) -> subprocess.Popen[str]:
        """Start it; ``run`` is a part of its jobs."""
        command = [sys.executable, "-m", "snakemake", "--logger", "pausefl", "--cores", "2", *arguments]
        command += ["--config", f"run={run}", f"sleep={sleep}"]
        return subprocess.Popen(
            command,
            cwd=self.root,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Tests may run with SIGINT ignored, which processes inherit.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def output(self, *arguments: str, ok: bool = True, run: str = "true") -> str:
        process = self.start(*arguments, run=run)
        out, error = process.communicate(timeout=120)
        assert (process.returncode == 0) == ok, out + error
        return out + error

    def log(self) -> str:
        """What Snakemake's own log files say."""
        return "".join(path.read_text("utf-8") for path in (self.root / ".snakemake/log").iterdir())


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    return Workflow(tmp_path)


def test_a_line_for_each_finished_step_everything_in_the_log_and_why_a_step_is_made_anew(
    workflow: Workflow,
) -> None:
    output = workflow.output()
    lines = re.findall(r"^(\d) of 6  (.*?)  [\d.]+ s$", output, re.M)
    assert [n for n, _ in lines] == list("123456")
    trained = {f"job {scenario} seed {seed}" for scenario in ("small", "large") for seed in (0, 1)}
    assert {title for _, title in lines[:4]} == trained
    assert [title for _, title in lines[4:]] == ["table", "all"]
    assert len(output) < 1500
    assert not re.search(r"[\x00-\x08\x0b-\x1f]|None", output)
    log = workflow.log()
    assert log.count("rule job:") == 4
    assert "output: runs/small/seed-0.txt" in log
    text = SNAKEFILE.replace('touch {output}"\n\nrule job', 'touch {output}; true"\n\nrule job')
    (workflow.root / "Snakefile").write_text(text, "utf-8")
    output = workflow.output("--dry-run")
    assert re.search(r"code has changed since last execution[^:]*:\n +table", output)
    assert re.search(r"^table +1$", output, re.M)
    assert output.count("Job stats:") == output.count("This was a dry-run") == 1


def test_failed_steps_show_the_end_of_their_logs_and_are_listed_at_the_end(workflow: Workflow) -> None:
    fail = "seq 100 >> $L; head -c 20000 /dev/zero | tr '\\\\0' x >> $L; test $S = small"
    output = workflow.output("--keep-going", ok=False, run=fail)
    assert "FAILED: job large seed 1" in output
    assert "  log: logs/large-1.log" in output
    assert "    | 100\n" in output
    assert "(72 lines before)" in output
    end = output.split("Failed: 2 of 6 steps; done: 2.", 1)[1]
    assert {line.strip() for line in end.splitlines()[1:3]} == {"job large seed 0", "job large seed 1"}
    assert "run the same command" in output
    assert "Exiting because" not in output
    assert max(map(len, output.splitlines())) < 400
    assert "CalledProcessError" in workflow.log()


def test_a_killed_step_is_said_to_be_killed(workflow: Workflow) -> None:
    assert "was killed, most likely because memory ran out" in workflow.output(
        "runs/large/seed-1.txt", ok=False, run="kill -9 $$"
    )


def test_what_a_user_stops_has_not_failed(workflow: Workflow) -> None:
    process = workflow.start(sleep=3)
    deadline = time.monotonic() + 60
    while not (workflow.root / "logs").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode != 0
    assert re.search(r"Stopped after \d of 6 steps. Run the same command again", out + error)
    assert "failed" not in (out + error).lower()


RESULTS = """
rule all:
    input: "results/figures/a.png", "results/figures/b.png"

rule figure:
    output: "results/figures/{name}.png"
    shell: "touch {output}"

rule report:
    input: "results/figures/a.png"
    output: "results/report/x.html"
    shell: "touch {output}"
"""


def test_a_dry_run_lists_the_steps_and_a_run_names_what_was_asked_for(workflow: Workflow) -> None:
    (workflow.root / "Snakefile").write_text(RESULTS, "utf-8")
    assert "figure a\nreport\n" in workflow.output("--dry-run", "results/report/x.html")
    assert "Results:\n  results/report/x.html\n" in workflow.output("results/report/x.html")
    places = "Results:\n  results/figures/ (2 files)\n  results/report/x.html\n"
    assert places in workflow.output("--forceall", "all", "results/report/x.html")


def test_an_input_from_the_future_is_named_with_what_to_run(tmp_path: Path) -> None:
    """As of a file system whose clock is ahead."""
    workflow = Workflow(tmp_path)
    (tmp_path / "Snakefile").write_text(
        'rule copy:\n    input: "a.txt"\n    output: "b.txt"\n    shell: "cp {input} {output}"\n', "utf-8"
    )
    (source := tmp_path / "a.txt").write_text("x", "utf-8")
    later = time.time() + 3 * 3600 + 30
    os.utime(source, (later, later))
    process = workflow.start()
    out, error = process.communicate(timeout=120)
    said = " ".join((out + error).split())
    assert process.returncode == 1
    assert re.search(r"a\.txt has a time 3 h 00 min ahead of this machine's clock", said), said
    assert "b.txt was made, and profiles/ keep it" in said
    assert "touch a.txt, then run the same command" in said
    assert "system level" not in said
    source.touch()
    workflow.output()
    assert (tmp_path / "b.txt").is_file()
