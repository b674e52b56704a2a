"""Time of what a user waits for: commands, a dry run of everything, the demo, the figures of published runs.

Everything runs in a copy of the last commit without results. Commands run once before they are timed. The
demo and the figures run once, with compiled kernels, as the installation leaves them. Seconds of cores are
those of all processes together.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent


@dataclass(frozen=True)
class Row:
    """What is timed.

    Attributes
    ----------
    label
        What the table calls it.
    command
        Program and arguments; ``{run}`` in them counts runs.
    repeated
        Whether it runs once before, and then as often as asked. The others make files, so they run once.
    """

    label: str
    command: tuple[str, ...]
    repeated: bool = True


#: What `make figures` asks for.
FIGURES = ("--", "all", "metrics")

_SELECTION = ("--scenario", "mnist_large_iid_r1", "--selector", "pause", "--seed", "0", "--no-train")


def rows(cores: int, data_root: Path | None) -> list[Row]:
    """All rows; selection alone needs the data set MNIST."""
    job = ("pausefl", "run", *_SELECTION, "--rounds", "300", "--out", "job-{run}", "--data-root")
    workflow = ("snakemake", "--cores", str(cores))
    return [
        Row("`pausefl --help`", ("pausefl", "--help")),
        Row("`pausefl check`", ("pausefl", "check", "--config", "config/published.yaml")),
        *([Row("selection only, 300 users, 300 rounds", (*job, str(data_root)))] if data_root else []),
        Row("`snakemake -n`", ("snakemake", "-n")),
        Row("`make demo`", (*workflow, "demo"), repeated=False),
        Row("`make figures`", (*workflow, "--configfile", "config/published.yaml", *FIGURES), repeated=False),
    ]


def measure(row: Row, folder: Path, repeats: int) -> tuple[float, float]:
    """Wall-clock seconds and seconds of cores, of the fastest run."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    times = []
    for run in range(1 + repeats if row.repeated else 1):
        command = [
            str(PROGRAMS / row.command[0]),
            *(part.replace("{run}", str(run)) for part in row.command[1:]),
        ]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
        cores = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        times.append((wall, cores))
    return min(times[1:] or times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", type=int, default=2, help="cores of demo and figures")
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each command")
    parser.add_argument("--data-root", type=Path, help="folder of raw data; without it no selection-only job")
    options = parser.parse_args()
    data_root = options.data_root.absolute() if options.data_root else None
    print("| what | seconds | seconds of cores |\n| :-- | --: | --: |")
    for row in rows(options.cores, data_root):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True)
            subprocess.run(["tar", "x"], cwd=folder, input=archive.stdout, check=True)
            if not row.repeated:
                compiling = (sys.executable, "-m", "pausefl.compile_kernels")
                environment = os.environ | {"PYTHONPATH": str(folder / "src")}
                subprocess.run(compiling, cwd=folder, env=environment, check=True, capture_output=True)
            wall, cores = measure(row, folder, options.repeats)
        print(f"| {row.label} | {wall:.1f} | {cores:.1f} |", flush=True)


if __name__ == "__main__":
    main()
