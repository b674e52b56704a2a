"""Fast and slow users swap: how long rounds last before and after, by selector, in simulated seconds.

The network of PAUSE v2's Fig. 8 with 60 users, 6 of them selected, and no training; users swap at round 150
of 450. Means over seeds, with their range.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from pausefl.federated.untrained import selection_only
from pausefl.results.markdown import table
from pausefl.selectors import LABELS
from pausefl.settings import Scenario, load_scenario, with_changes

ROOT = Path(__file__).parents[1]
SWAP, N_ROUNDS = 150, 450
#: Name in the table, selector, and `selection.forgetting`.
SHOWN = (
    ("pause", 0.0),
    ("pause", 0.25),
    ("bsfl", 0.0),
    ("bsfl", 0.25),
    ("cs_ucb", 0.0),
    ("cs_ucb", 0.25),
    ("fedcs", 0.0),
    ("fedcs", 0.25),
    ("random", 0.0),
)


def drifting(forgetting: float) -> Scenario:
    """The scenario of the table."""
    scenario = load_scenario("mnist_large_iid_r1", ROOT / "config/scenarios")
    changes = {
        "network": {"n_users": 60, "n_selected": 6, "latency": "drift", "swap_round": SWAP},
        "selection": {"forgetting": forgetting, "deadline": 0.6, "n_candidates": 12},
    }
    texts = [f"{section}.{key}={value}" for section, own in changes.items() for key, value in own.items()]
    return with_changes(scenario, [*texts, "network.round_latency_max=1.2", f"training.n_rounds={N_ROUNDS}"])


def rounds_last(selector: str, forgetting: float, seed: int) -> list[float]:
    """Mean round before the swap, in the 150 rounds after it, and in the last 150."""
    rounds = selection_only(drifting(forgetting), selector, seed).run(N_ROUNDS).rounds["latency_s"].to_numpy()
    return [float(part.mean()) for part in np.split(rounds, [SWAP, 2 * SWAP])]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    n_seeds = parser.parse_args().seeds
    rows = []
    for selector, forgetting in SHOWN:
        found = np.array([rounds_last(selector, forgetting, seed) for seed in range(n_seeds)])
        spans = [f"{part.mean():.2f} ({part.min():.2f} to {part.max():.2f})" for part in found.T]
        rows.append([LABELS[selector], f"{forgetting:g}", *spans])
    head = ["Selector", "Forgetting", "Before", "150 rounds after", "The last 150"]
    print(table(head, rows, "lrrrr"))


if __name__ == "__main__":
    main()
