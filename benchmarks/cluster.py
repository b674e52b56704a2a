"""Minutes and MB that jobs ask of Slurm, and what they use: a table in Markdown.

With targets: starts Slurm with this machine as its only node, as the tests do (`tests/helpers/slurm.py`), and
runs them in a copy of the checkout with ``profiles/slurm``. Slurm counts what is used: minutes of the job,
those on a core and the largest resident set; it includes Snakemake's process in the job. Each try has a row;
what was asked first is compared with what all tries used.

Without: compares what the profile asks now with what published runs that trained used.

    python benchmarks/cluster.py
    python benchmarks/cluster.py demo_small
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/helpers"))

from slurm import MISSING, Cluster, submitted
from workspace import Checkout, make_checkout

from pausefl.analysis.formats import number
from pausefl.analysis.markdown import table
from pausefl.reproduction.targets.plan import LEAST, memory_mb
from pausefl.reproduction.targets.plan import minutes as minutes_asked
from pausefl.reproduction.targets.project import Project
from pausefl.runs.run_id import RunId
from pausefl.settings import read_yaml

#: Of a job, as ``squeue`` says it: number, and what begins `Try`.
_FIELDS = "%i|%k|%l|%M|%m"


@dataclass(frozen=True)
class Try:
    """A job of Slurm: comment, limit and use of time, memory, as Slurm writes them; and what it used."""

    comment: str
    limit: str
    took: str
    memory: str
    #: Minutes on a core, and the largest resident set in MB.
    on_core: float
    used_mb: float


def minutes(text: str) -> float:
    """Minutes of a duration as Slurm writes it: ``1-02:03:04``, ``02:03:04`` or ``3:04``."""
    days, _, clock = text.rpartition("-")
    seconds = sum(float(part) * 60**i for i, part in enumerate(reversed(clock.split(":"))))
    return seconds / 60 + 1440 * float(days or 0)


def run(cluster: Cluster, checkout: Checkout, targets: list[str], config: list[str]) -> list[Try]:
    """Run targets on the cluster; what it says of each job at its end."""
    said: dict[str, list[str]] = {}
    used: dict[str, tuple[float, float]] = {}
    settings = ["--config", *config] if config else []
    with submitted(checkout, *settings, "--", *targets) as submission:
        running = True
        while running:
            running = submission.process.poll() is None
            time.sleep(1)
            jobs = cluster.ask(
                "squeue", "--noheader", "--array", "--states=all", f"--format={_FIELDS}", ok=False
            )
            said |= {line.partition("|")[0]: line.split("|") for line in jobs.splitlines()}
            states = ("--states=RUNNING", "--format=%i")
            for job in cluster.ask("squeue", "--noheader", "--array", *states, ok=False).split():
                used[job] = max(used.get(job, (0, 0)), measured(cluster, job))
        submission.finish()
    return [Try(*rest, *used.get(job, (math.nan, math.nan))) for job, *rest in said.values()]


def measured(cluster: Cluster, job: str) -> tuple[float, float]:
    """Minutes on a core and largest resident set, in MB, of a running job so far."""
    form = ("--allsteps", "--noheader", "--parsable2", "--noconvert", "--format=AveCPU,MaxRSS")
    lines = cluster.ask("sstat", *form, f"--jobs={job}", ok=False).splitlines()
    # Before its first look at a step, Slurm says 0 bytes and an absurd time.
    steps = [(cpu, float(rss)) for cpu, rss in (line.split("|") for line in lines) if rss not in ("", "0")]
    return math.fsum(minutes(cpu) for cpu, _ in steps), max((rss / 1e6 for _, rss in steps), default=0)


def rows(checkout: Checkout, tries: list[Try]) -> Iterator[list[str]]:
    """A row for each try of a step that trains."""
    folder = checkout.root / "results/benchmarks"
    for path in sorted(folder.glob("job*/*/*/seed-*.tsv")):
        kind, scenario, selector, seed = path.relative_to(folder).with_suffix("").parts
        wildcards = [scenario, *([selector] if kind == "job" else []), seed.removeprefix("seed-")]
        comment = re.compile(rf"rule_{kind}(_\d+)?_wildcards_{'_'.join(wildcards)}$")
        own = [one for one in tries if comment.match(one.comment)]
        for one in own:
            asked_mb = float(one.memory.rstrip("MG")) * (1000 if one.memory.endswith("G") else 1)
            ratio = minutes(own[0].limit) / math.fsum(each.on_core for each in own)
            yield [
                scenario,
                selector.replace("_", " ") if kind == "jobs" else selector,
                *(f"{minutes(one.limit):.0f}", f"{minutes(one.took):.1f}", number(one.on_core, ".1f")),
                *(number(ratio, ".1f") if one is own[-1] else "", f"{asked_mb:.0f}"),
                number(one.used_mb, ".0f"),
            ]


def published() -> Iterator[list[str]]:
    """A row for the published runs of a scenario that trained; all that ask for the least share one."""
    plan = Project.load(read_yaml(Path("config/config.yaml")), Path())
    used: dict[str, list[tuple[float, float, float, float]]] = {}
    for file in sorted(Path("results/published").glob("*/runs.jsonl")):
        for run in map(json.loads, file.read_text("utf-8").splitlines()):
            if file.parent.name in plan.job_scenarios and "trained_by" not in run:
                job = RunId(file.parent.name, run["selector"], run["seed"])
                limit, memory = minutes_asked(plan, job), memory_mb(plan, job.scenario)
                took, peak = run["timings_s"]["total"] / 60, run["peak_memory_bytes"] / 1e6
                name = job.scenario if limit > LEAST else "all others"
                used.setdefault(name, []).append((limit, took, memory, peak))
    for name, runs in sorted(used.items(), key=lambda item: (item[0] == "all others", item[0])):
        limits, times, memory, peaks = zip(*runs, strict=True)
        usual = statistics.median(limit / took for limit, took in zip(limits, times, strict=True))
        over = sum(took > limit for limit, took in zip(limits, times, strict=True))
        yield [
            name,
            str(len(runs)),
            *(between(limits, ".0f"), between(times, ".1f"), f"{usual:.1f}", str(over)),
            *(f"{memory[0]}", f"{max(peaks):.0f}", f"{memory[0] / max(peaks):.1f}"),
        ]


def between(values: Sequence[float], form: str) -> str:
    """The least and the largest value."""
    least, most = f"{min(values):{form}}", f"{max(values):{form}}"
    return least if least == most else f"{least} to {most}"


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("targets", nargs="*", help="what to make")
    parser.add_argument(
        "--config", nargs="+", default=[], metavar="KEY=VALUE", help="keys of the configuration"
    )
    arguments = parser.parse_args()
    if not arguments.targets:
        head = ["scenario", "runs", "minutes asked", "used", "asked / used (median)", "used more"]
        print(table([*head, "MB asked", "most used", "asked / used"], published(), "lr"))
        return
    if MISSING:
        parser.error(f"Slurm is not installed (apt-get install slurm-wlm munge): no {', '.join(MISSING)}")
    # The socket in it must have a short path.
    with tempfile.TemporaryDirectory(prefix="slurm", dir="/tmp") as folder:
        checkout = make_checkout(Path(folder) / "checkout")
        cluster = Cluster(Path(folder) / "daemons")
        cluster.root.mkdir()
        os.environ |= cluster.environment
        try:
            cluster.start()
            jobs = run(cluster, checkout, arguments.targets, arguments.config)
        finally:
            cluster.stop()
        head = ["scenario", "selectors", "minutes asked", "used", "on a core", "asked / on a core"]
        print(table([*head, "MB asked", "used"], rows(checkout, jobs), "llr"))


if __name__ == "__main__":
    main()
