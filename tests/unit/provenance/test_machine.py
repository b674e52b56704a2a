"""What is recorded of the machine and its libraries."""

from __future__ import annotations

import os
import sys

from pausefl.provenance import hardware, peak_memory_bytes, versions


def test_versions_name_everything_a_job_computes_with() -> None:
    found = versions()
    assert {"python", "pausefl", "torch", "numpy", "pandas", "pyarrow", "numba"} <= set(found)
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert all(found.values())


def test_hardware_and_memory_are_recorded() -> None:
    assert set(hardware()) == {"machine", "processor", "cores", "system"}
    assert hardware()["cores"] == os.cpu_count()
    assert 10**6 < peak_memory_bytes() < 10**13
