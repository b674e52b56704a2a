"""Which machine and which libraries made a result."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import resource
import sys
from pathlib import Path
from typing import Any

#: Instructions that bear on the arithmetic of floating-point numbers.
_ARITHMETIC = re.compile(r"sse4|avx|amx|fma|f16c|bf16|i8mm|asimd|sve")
#: What makes Numba, PyTorch and its libraries use other instructions.
_VARIABLES = (
    *("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"),
    *("MKL_CBWR", "MKL_ENABLE_INSTRUCTIONS", "OPENBLAS_CORETYPE"),
)

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
    """Processor and operating system of this machine, and what chooses its instructions.

    These change last digits: ``instructions`` that the processor has, the set that PyTorch uses (``torch``;
    only where it is loaded), and ``variables`` of the environment that say otherwise, where they are set.
    """
    processor, instructions = _processor()
    torch = sys.modules.get("torch")
    return {
        "machine": platform.machine(),
        "processor": processor,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "instructions": instructions,
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        **({} if torch is None else {"torch": torch.backends.cpu.get_cpu_capability()}),
    }


def _processor() -> tuple[str, str]:
    """Name of the processor and its instructions for arithmetic, as Linux reports them."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    pairs = (line.partition(":") for line in reversed(lines))
    said = {key.strip(): value.strip() for key, _, value in pairs}
    flags = said.get("flags", said.get("Features", "")).split()
    return said.get("model name", "unknown"), " ".join(sorted(filter(_ARITHMETIC.match, flags)))


def peak_memory_bytes() -> int:
    """Largest resident set of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
