"""Time of a round of equal work in this project and in other simulators.

Each simulator runs in a process on one core, with its own environment, made on first use in ``build/peers``.
`work.py` defines the work. Simulators take turns, and the least time of each counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / "build" / "peers"

#: What each simulator needs; none for the environment that this script runs in.
REQUIREMENTS: dict[str, list[str]] = {
    "pausefl": [],
    "loop": [],
    "pfl": ["torch==2.13.0", "pfl==0.6.0"],
    # The last release of FedJAX needs a JAX of its time.
    "fedjax": [
        "jax==0.4.25",
        "jaxlib==0.4.25",
        "numpy<2",
        "scipy<1.13",
        "dm-haiku==0.0.11",
        "fedjax==0.0.17",
    ],
    "flwr": ["torch==2.13.0", "flwr[simulation]==1.41.0"],
}
NAMES = {
    "pausefl": "pausefl",
    "loop": "plain PyTorch loop",
    "pfl": "pfl 0.6.0",
    "fedjax": "FedJAX 0.0.17",
    "flwr": "Flower 1.41.0, simulation engine",
}


def python_of(name: str) -> str:
    """The interpreter of a simulator's environment, made if need be."""
    if not REQUIREMENTS[name]:
        return sys.executable
    folder = ENVIRONMENTS / name
    if not (folder / "made").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        # One after another: PyTorch first, so that nothing else chooses another build of it.
        for requirement in REQUIREMENTS[name][:1], REQUIREMENTS[name]:
            subprocess.run([*pip, *requirement], check=True)
        (folder / "made").touch()
    return str(folder / "bin" / "python")


def seconds_per_round(name: str) -> float:
    """One run of a simulator."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [python_of(name), f"with_{name}.py"], cwd=HERE, env=environment, capture_output=True, text=True
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("seconds_per_round")]
    if done.returncode != 0 or not lines:
        raise SystemExit(f"{name} failed:\n{done.stdout}\n{done.stderr}")
    return float(lines[-1].split()[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="turns of each simulator")
    parser.add_argument("--only", nargs="+", choices=REQUIREMENTS, default=list(REQUIREMENTS))
    arguments = parser.parse_args()
    best = dict.fromkeys(arguments.only, float("inf"))
    for _ in range(arguments.repeats):
        for name in best:
            best[name] = min(best[name], seconds_per_round(name))
    ours = best.get("pausefl", min(best.values()))
    print("| simulator | a round (ms) | times ours |\n| :-- | --: | --: |")
    for name, seconds in sorted(best.items(), key=lambda item: item[1]):
        print(f"| {NAMES[name]} | {1e3 * seconds:.1f} | {seconds / ours:.1f} |")


if __name__ == "__main__":
    main()
