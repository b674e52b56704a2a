"""Compile what jobs use, before the first job; part of the installation.

``python -m pausefl.compile_kernels``. Numba keeps the kernels beside the modules that define them.
Without this, the first jobs compile them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pausefl.data.partition import make_partition
from pausefl.data.raw_data import prepare
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.selectors import SELECTORS
from pausefl.settings import SHIPPED, RawData, load_scenario
from pausefl.streams import Streams

#: A scenario of a dense network with privacy, on data that need no download.
_SCENARIO = "demo_small"


def compile_kernels() -> None:
    """Run two rounds of a small scenario with each selector and the genie."""
    scenario = load_scenario(_SCENARIO, SHIPPED)
    dataset = prepare(scenario.data, RawData(Path(), download=False, folders={}))
    n_users = scenario.network.n_users
    partition = make_partition(dataset.train_y, scenario.data, scenario.partition, n_users, Streams(0))
    with tempfile.TemporaryDirectory() as out:
        for selector in SELECTORS:
            if not scenario.lacking(selector):
                job = Job(scenario, selector, 0, n_rounds=2, device="cpu", genie=True)
                run_job(job, dataset, partition, Path(out) / selector)


if __name__ == "__main__":
    compile_kernels()
