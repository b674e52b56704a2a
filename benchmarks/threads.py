"""Seconds of a round of FedAvg on one thread and on two, on the main thread and on all: a table in Markdown.

Time on the main thread bounds the time of a round from below, however busy the machine is; that on all
threads is what other jobs lose. The digest says whether the results are the same.

    python benchmarks/threads.py bsfl_fashion_iid --data-root DIR --set training.max_batches=4
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from pathlib import Path

# Threads that wait do not count.
os.environ["OMP_WAIT_POLICY"] = "passive"

from pausefl import hashing
from pausefl.analysis.markdown import table
from pausefl.federated.job import Job
from pausefl.federated.run_job import data_of_job, run_job
from pausefl.runs.collected import read_run
from pausefl.settings import SHIPPED, RawData, home, load_scenario, with_changes


def seconds(who: int) -> float:
    """Time on a core so far."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenario")
    parser.add_argument("--data-root", type=Path, default=Path("data/raw"))
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3, help="the first does not count")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="settings of the scenario")
    arguments = parser.parse_args()
    changes = [f"network.n_users={arguments.users}", "network.n_selected=2", *arguments.set]
    scenario = with_changes(load_scenario(arguments.scenario, home() / SHIPPED), changes)
    rows = []
    for _ in range(arguments.repeats):
        for n_threads in (1, 2):
            job = Job(scenario, "fedavg", 0, arguments.rounds, n_threads=n_threads)
            data = data_of_job(job, RawData(arguments.data_root, False, {}))
            seen: list[tuple[float, float]] = []
            with tempfile.TemporaryDirectory() as out:
                run_job(
                    job,
                    *data,
                    Path(out),
                    lambda t, seen=seen: seen.append(
                        (seconds(resource.RUSAGE_THREAD), seconds(resource.RUSAGE_SELF))
                    ),
                )
                digest = hashing.of_table(read_run(Path(out)).rounds)
            spent = [(last - first) / (len(seen) - 1) for first, last in zip(seen[0], seen[-1], strict=True)]
            rows.append([str(n_threads), *(f"{one:.2f}" for one in spent), digest[:8]])
    print(table(["threads", "s a round: main thread", "all threads", "digest"], rows, "r"))


if __name__ == "__main__":
    main()
