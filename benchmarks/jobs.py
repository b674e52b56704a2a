"""Time and memory of whole jobs, for each scenario and selector of the experiment table.

Each job is a process ``pausefl run`` on one core. With ``--rounds`` only that many rounds are run, and the
time of the others is extrapolated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pausefl.reproduction.config import load_config
from pausefl.settings import Scenario, read_yaml

#: Stages of a round, as a job's summary names them.
STAGES = ("selection", "training", "noise", "evaluation")


@dataclass(frozen=True)
class Measurement:
    """One job: wall-clock seconds from start to exit, seconds of each stage of its rounds, peak memory."""

    wall_s: float
    stages_s: dict[str, float]
    n_rounds: int
    peak_mb: float

    @property
    def rounds_s(self) -> float:
        """Seconds of all rounds."""
        return sum(self.stages_s.values())

    def ms_a_round(self) -> list[float]:
        """Milliseconds a round of each stage."""
        return [1e3 * seconds / self.n_rounds for seconds in self.stages_s.values()]

    def whole_job_s(self, n_rounds: int) -> float:
        """Seconds of a job of ``n_rounds``: the overhead once, the rounds in proportion."""
        return self.wall_s - self.rounds_s + self.rounds_s * n_rounds / self.n_rounds


def measure(scenario: Scenario, selector: str, arguments: argparse.Namespace) -> Measurement:
    """Run one job in a temporary folder."""
    n_rounds = arguments.rounds or scenario.training.n_rounds
    folder = {"cifar10": arguments.cifar10_folder}.get(scenario.data.source)
    with tempfile.TemporaryDirectory() as out:
        command = [
            *(sys.executable, "-c", "from pausefl.cli import main; main()", "run"),
            *("--scenario", scenario.name, "--selector", selector, "--seed", "0", "--out", out),
            *("--rounds", str(n_rounds), "--data-root", str(arguments.data_root)),
            *(["--data-folder", folder] if folder else []),
            *(["--no-train"] if arguments.no_train else []),
        ]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        wall = time.perf_counter() - start
        summary = json.loads((Path(out) / "summary.json").read_text("utf-8"))
    stages = {stage: summary["timings_s"][stage] for stage in STAGES}
    return Measurement(wall, stages, n_rounds, summary["peak_memory_bytes"] / 1e6)


def main() -> None:
    """Measure and print one row a scenario and selector."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, default=Path("config/config.yaml"))
    parser.add_argument("--scenario", help="only this scenario of the table")
    parser.add_argument("--data-root", type=Path, default=Path("data/raw"))
    parser.add_argument("--cifar10-folder", help="class folders under the data root, in place of CIFAR-10")
    parser.add_argument("--rounds", type=int, help="rounds to run; all of them by default")
    parser.add_argument("--no-train", action="store_true", help="selection alone")
    arguments = parser.parse_args()

    config = load_config(read_yaml(arguments.config))
    seeds: dict[tuple[str, str], int] = {}
    for row in config.experiments:
        if arguments.scenario in (None, row.scenario):
            seeds[row.scenario, row.selector] = seeds.get((row.scenario, row.selector), 0) + 1
    columns = [*STAGES, "a round (ms)", "besides (s)", "job (s)", "seeds (core-h)", "MB"]
    print(f"| scenario | selector | rounds | {' | '.join(columns)} |")
    print("| :-- | :-- |" + 10 * " --: |")
    total = 0.0
    for (name, selector), n_seeds in seeds.items():
        scenario = config.scenarios[name]
        m = measure(scenario, selector, arguments)
        job = m.whole_job_s(scenario.training.n_rounds)
        total += job * n_seeds / 3600
        parts = " | ".join(f"{ms:.1f}" for ms in [*m.ms_a_round(), sum(m.ms_a_round())])
        print(
            f"| {name} | {selector} | {m.n_rounds} | {parts} | {m.wall_s - m.rounds_s:.1f}"
            f" | {job:.0f} | {job * n_seeds / 3600:.2f} | {m.peak_mb:.0f} |",
            flush=True,
        )
    print(f"\nTogether {total:.1f} core-hours.")


if __name__ == "__main__":
    main()
