"""Every script below `benchmarks/` starts, so that a change breaks none of them in silence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: What others import or start, and no script of its own.
PARTS = {
    "benchmarks/reference.py",
    *(f"benchmarks/peers/{path.name}" for path in (ROOT / "benchmarks/peers").glob("w*.py")),
}
SCRIPTS = [
    name
    for path in sorted((ROOT / "benchmarks").rglob("*.py"))
    if (name := str(path.relative_to(ROOT))) not in PARTS
]  # fmt: skip

#: The smallest work of a script: its arguments, and a part of what it prints.
SMALLEST = {
    "benchmarks/investigations/aggregate_noise.py": ("demo_small", "aggregate_noise.py: error: "),
    "benchmarks/investigations/authors_draws.py": ("", "| Random selection | Seeds |"),
    "benchmarks/investigations/authors_logs.py": ("--seeds 1", "| `cifar10_large_noniid_r1_cnn5_as_run` |"),
    "benchmarks/investigations/authors_oort.py": ("nowhere", "No module named 'oort'"),
    "benchmarks/investigations/dead_units.py": ("--data nowhere", "nowhere: no such file"),
    "benchmarks/investigations/jpeg_copies.py": ("--data nowhere --out nowhere", "nowhere: no such file"),
    "benchmarks/investigations/official_as_jpeg.py": ("nowhere", "Error: "),
    "benchmarks/investigations/overlap_penalty.py": ("--rounds 2 --seeds 1", "| cifar10_large_noniid_r2 |"),
    "benchmarks/investigations/same_rounds.py": ("mnist_large_iid_r1_as_run", "sa_pause_best_gain"),
    "benchmarks/investigations/update_budget.py": ("", "| L2 norm 0.001 |"),
    "benchmarks/cluster.py": ("", "| scenario | runs |"),
    "benchmarks/gpu.py": (
        "--device cpu --rounds 1 --scenario mnist_large_iid_r1 --selector random",
        "| mnist_large",
    ),
    "benchmarks/picker.py": ("--seconds 0.01", "| 100,000 | 100 |"),
    "benchmarks/threads.py": ("demo_small --users 4 --rounds 2 --repeats 1", "| 2 |"),
}


def printed(script: str, arguments: str) -> str:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    command = [sys.executable, script, *arguments.split()]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    return found.stdout + found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_help_and_does_nothing_else(script: str) -> None:
    text = printed(script, "--help")
    assert text.lstrip().lower().startswith("usage: ")
    assert "Traceback" not in text


@pytest.mark.slow
@pytest.mark.parametrize("script", SMALLEST)
def test_a_script_does_its_smallest_work(script: str) -> None:
    arguments, expected = SMALLEST[script]
    assert expected in printed(script, arguments)
