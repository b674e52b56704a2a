"""Effect of the overlap penalty rho of reward R2, by which its value was chosen (deviation D29).

Simulates the scenarios under R2 with exact search, without training, for several penalties and seeds:

    python benchmarks/investigations/overlap_penalty.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from pausefl.federated.untrained import selection_only
from pausefl.settings import load_scenario

SCENARIOS = ("cifar10_small_iid_r2", "cifar10_large_noniid_r2")
PENALTIES = (0.0, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.1)


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    print(
        "| scenario | ρ | overlaps a round | seconds a round | largest leakage |\n"
        "| :-- | --: | --: | --: | --: |"
    )
    for name in SCENARIOS:
        scenario = load_scenario(name, Path("config/scenarios"))
        for penalty in PENALTIES:
            reward = scenario.reward.replace(overlap_penalty=penalty)
            found = []
            for seed in range(arguments.seeds):
                simulation = selection_only(scenario.replace(reward=reward), "pause", seed)
                simulation.run(arguments.rounds)
                rounds = pd.DataFrame(simulation.rows)
                clusters = [len(set(simulation.history.cluster[list(s)])) for s in rounds["selection"]]
                overlaps = scenario.network.n_selected - np.array(clusters)
                found.append((overlaps.mean(), rounds["latency_s"].mean(), rounds["leakage_max"].iloc[-1]))
            overlaps, seconds, leakage = np.mean(found, axis=0)
            print(f"| {name} | {penalty:g} | {overlaps:.2f} | {seconds:.3f} | {leakage:.2f} |", flush=True)


if __name__ == "__main__":
    main()
