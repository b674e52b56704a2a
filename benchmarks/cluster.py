"""Minutes and MB that jobs ask of Slurm, and what they use: a table in Markdown.

Starts Slurm with this machine as its only node, as the tests do (`tests/helpers/slurm.py`), and runs targets
in a copy of the checkout with ``profiles/slurm``. Used are the minutes that Slurm counts, those that the step
was on a core, and its largest resident set, as Snakemake saw them.

    python benchmarks/cluster.py demo_small
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/helpers"))

from slurm import Cluster, missing_programs, submitted
from workspace import Checkout, make_checkout

from pausefl.results.markdown import table

#: Of a job, as ``squeue`` says it: number, comment, limit and use of time, memory.
_FIELDS = "%i|%k|%l|%M|%m"


def minutes(text: str) -> float:
    """Minutes of a duration as Slurm writes it: ``1-02:03:04``, ``02:03:04`` or ``3:04``."""
    days, _, clock = text.rpartition("-")
    seconds = sum(float(part) * 60**i for i, part in enumerate(reversed(clock.split(":"))))
    return seconds / 60 + 1440 * float(days or 0)


def run(cluster: Cluster, checkout: Checkout, targets: list[str], config: list[str]) -> list[list[str]]:
    """Run targets on the cluster; what it says of each job at its end, by `_FIELDS`."""
    said: dict[str, list[str]] = {}
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
        submission.finish()
    return list(said.values())


def measured(path: Path) -> tuple[float, float]:
    """Minutes on a core and largest resident set, in MB, in a benchmark of Snakemake."""
    with path.open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    return float(row["cpu_time"]) / 60, float(row["max_rss"])


def rows(checkout: Checkout, jobs: list[list[str]]) -> Iterator[list[str]]:
    """A row for each step that trains."""
    folder = checkout.root / "results/benchmarks"
    for path in sorted(folder.glob("job*/*/*/seed-*.tsv")):
        kind, scenario, selector, seed = path.relative_to(folder).with_suffix("").parts
        wildcards = [scenario, *([selector] if kind == "job" else []), seed.removeprefix("seed-")]
        comment = re.compile(rf"rule_{kind}(_\d+)?_wildcards_{'_'.join(wildcards)}$")
        for _, said, limit, took, memory in jobs:
            if comment.match(said):
                asked_mb = float(memory.rstrip("MG")) * (1000 if memory.endswith("G") else 1)
                asked, used, (on_core, used_mb) = minutes(limit), minutes(took), measured(path)
                yield [
                    scenario,
                    selector.replace("_", " ") if kind == "jobs" else selector,
                    *(f"{asked:.0f}", f"{used:.1f}", f"{on_core:.1f}", f"{asked / on_core:.1f}"),
                    *(f"{asked_mb:.0f}", f"{used_mb:.0f}", f"{asked_mb / used_mb:.1f}"),
                ]


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("targets", nargs="+", help="what to make")
    parser.add_argument(
        "--config", nargs="+", default=[], metavar="KEY=VALUE", help="keys of the configuration"
    )
    arguments = parser.parse_args()
    if missing := missing_programs():
        parser.error(f"Slurm is not installed (apt-get install slurm-wlm munge): no {', '.join(missing)}")
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
        head += ["MB asked", "used", "asked / used"]
        print(table(head, rows(checkout, jobs), "llr"))


if __name__ == "__main__":
    main()
