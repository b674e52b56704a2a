"""A cluster for the tests of this folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm import MISSING, Cluster


@pytest.fixture(scope="module")
def one_node() -> Iterator[Cluster]:
    """Slurm with this machine as its only node; skips where it is not installed."""
    if MISSING:
        pytest.skip(f"Slurm is not installed (apt-get install slurm-wlm munge): no {', '.join(MISSING)}")
    if os.geteuid() != 0:
        pytest.skip("Slurm's daemons are started as root here")
    # The socket in it must have a short path.
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="slurm", dir="/tmp")))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cluster.environment.items():
            patch.setenv(name, value)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()
    shutil.rmtree(cluster.root)


@pytest.fixture
def cluster(one_node: Cluster) -> Iterator[Cluster]:
    """The cluster with no jobs on it, before the test and after."""
    yield one_node
    one_node.end_jobs()
