"""Which machine and which libraries made a result."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import sys
from pathlib import Path
from typing import Any

_LIBRARIES = ("torch", "numpy", "pandas", "pyarrow", "numba")


def versions() -> dict[str, str]:
    """Versions of Python, of this package and of the libraries a job computes with."""
    installed = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {
        "python": platform.python_version(),
        "pausefl": importlib.metadata.version("pausefl"),
        **installed,
    }


def hardware() -> dict[str, Any]:
    """Processor and operating system of this machine."""
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
    }


def _processor() -> str:
    """Model name of the processor, as Linux reports it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown"
    )


def peak_memory_bytes() -> int:
    """Largest resident set of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
