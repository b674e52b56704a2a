"""What is recorded of the machine and its libraries."""

from __future__ import annotations

import os
import platform
import sys

import pytest

from pausefl.provenance import hardware, peak_memory_bytes, versions


def test_versions_name_everything_a_job_computes_with() -> None:
    found = versions()
    assert {"python", "pausefl", "torch", "numpy", "pandas", "pyarrow", "numba"} <= set(found)
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert all(found.values())


def test_hardware_and_memory_are_recorded() -> None:
    found = hardware()
    assert {"machine", "processor", "cores", "system", "instructions", "variables"} <= set(found)
    assert found["cores"] == os.cpu_count()
    assert 10**6 < peak_memory_bytes() < 10**13


def test_what_chooses_instructions_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "default")
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    found = hardware()
    assert found["variables"].items() >= {"MKL_CBWR": "COMPATIBLE", "ATEN_CPU_CAPABILITY": "default"}.items()
    assert "NUMBA_CPU_NAME" not in found["variables"]
    import torch

    assert hardware()["torch"] == torch.backends.cpu.get_cpu_capability()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the names are those of x86")
def test_instructions_are_those_of_arithmetic() -> None:
    found = hardware()["instructions"].split()
    assert found == sorted(set(found))
    assert "sse4_2" in found
    assert not {"lm", "nx", "syscall"} & set(found)
