"""Mean simulated rounds of the logs that the PAUSE authors keep of their papers' figures, beside ours.

Simulates selection alone under the settings of each log, which are not those of the papers:

    python benchmarks/authors_logs.py

The logs are in ``checkpoints/archive`` of https://github.com/oritalp/PAUSE.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.registry import SELECTORS
from pausefl.registry.base import lent
from pausefl.selectors.annealing import SaPause, Users
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario, load_scenario
from pausefl.settings.changes import with_values
from pausefl.studies.simulate import selection_only

SCENARIOS = Path(__file__).parents[1] / "config" / "scenarios"

#: What `BestNeighbour` is called here.
BEST = "best_neighbour"


class Log(NamedTuple):
    """Runs of one folder of logs, or only ours."""

    name: str
    #: Folder and commit; empty if there are no logs.
    source: str
    scenario: str
    #: What their settings have in place of the scenario's, as far as selection depends on it.
    changes: Mapping[str, Any]
    #: Rounds and simulated seconds of each run, by our name of the selector; None for one without a log.
    runs: Mapping[str, tuple[int, float] | None]


#: J and kappa of the later logs.
ANNEALING = {"selection.n_iterations": 100, "selection.temperature_divisor": 1.0}

LOGS = (
    Log(
        "Figs. 2, 4",
        "Cifar_with_CNN3/30_choose_5/i_i_d_new (52b3f83)",
        "cifar10_small_iid_r1",
        {"selection.n_iterations": 1000, "selection.temperature_divisor": 70.0},
        {
            "pause": (300, 156.65),
            "sa_pause_v1": (300, 178.64),
            "random": (300, 255.85),
            "clustered_size": (300, 264.14),
        },
    ),
    Log(
        "Figs. 8, 9",
        "MNIST with FC2/300 choose 15/new_i_i_d (bc9e1e7)",
        "mnist_large_iid_r1",
        # Their beta is 1; a scenario's is larger.
        {
            "reward.alpha": 20.0,
            "reward.beta": 1 + 1e-9,
            "reward.gamma": 10.0,
            "selection.exploitation": 2.0,
            "partition.sizes": "equal",
            "partition.size_concentration": None,
            **ANNEALING,
        },
        {
            "pause": (360, 200.22),
            BEST: (330, 200.02),
            "sa_pause": None,
            "random": (222, 200.11),
            "clustered_size": (220, 200.03),
        },
    ),
    Log(
        "Figs. 10, 12",
        "Cifar_with_CNN3/300_choose_15/new_non_iid (bc9e1e7)",
        "cifar10_large_noniid_r1",
        {
            "reward.alpha": 10.0,
            "reward.gamma": 20.0,
            "selection.exploitation": 1.0,
            "partition.size_concentration": 2.0,
            **ANNEALING,
        },
        {
            "pause": (526, 300.03),
            BEST: (432, 300.61),
            "sa_pause": None,
            "clustered_size": (333, 300.39),
        },
    ),
    Log("ours", "", "mnist_large_iid_r1", ANNEALING, {"pause": None, BEST: None, "sa_pause": None}),
)


class BestNeighbour(SaPause):
    """SA-PAUSE as in the later logs: it draws a neighbour by its gain, so nearly always the best one.

    Their code (commit bc9e1e7) draws with probabilities in proportion to exp(gain / 1e-4), where the gain
    leaves out what the least index rises by. Algorithm 3 (v2) draws uniformly. The first move is always
    accepted there, as its temperature is infinite. For rewards without a penalty (R1).
    """

    softness = 1e-4

    def anneal(
        self,
        objective: Objective,
        history: History,
        users: Users,
        rng: np.random.Generator,
        n_iterations: int | None = None,
        energies: NDArray[np.float64] | None = None,
    ) -> Users:
        """Best of the selections met, as in `Annealer.anneal`."""
        bound, score, m = objective.bound, objective.score, objective.n_selected
        scale = self.largest_gap(objective, history, users) / self.temperature_divisor
        members = rng.permutation(len(bound))[:m]
        energy = objective.value(members)
        best, best_energy = members, energy
        for j in range(self.n_iterations if n_iterations is None else n_iterations):
            least = int(bound[members].argmin())
            low = bound[members[least]]
            outsiders = np.setdiff1d(np.arange(len(bound)), members)
            lower = outsiders[bound[outsiders] < low]
            # Any outsider for the member of the least index, and an outsider of a lower index for any other.
            others = np.delete(np.arange(m), least)
            leaving = np.concatenate([np.full(len(outsiders), least), np.repeat(others, len(lower))])
            entering = np.concatenate([outsiders, np.tile(lower, m - 1)])
            gains = score[entering] - score[members[leaving]] + np.minimum(bound[entering] - low, 0.0)
            drawn = int((gains / self.softness + rng.gumbel(size=len(gains))).argmax())
            neighbour = members.copy()
            neighbour[leaving[drawn]] = entering[drawn]
            gain = objective.value(neighbour) - energy
            if gain >= 0 or rng.random() < math.exp(gain * math.log(1 + j) / scale):
                members, energy = neighbour, energy + gain
                if energy > best_energy:
                    best, best_energy = members, energy
            if energies is not None:
                energies[j] = energy
        return best


def mean_rounds(log: Log, selector: str, seeds: int) -> NDArray[np.float64]:
    """Mean simulated seconds (seeds,) of a round of ours, over as many rounds as theirs, or 300."""
    scenario: Scenario = with_values(load_scenario(log.scenario, SCENARIOS), log.changes, log.name)
    n_rounds, _ = log.runs[selector] or (300, None)
    greedy = dataclasses.replace(SELECTORS["sa_pause"], code=f"{__name__}:{BestNeighbour.__name__}")
    with lent(SELECTORS, BEST, greedy):
        played = [selection_only(scenario, selector, seed).run(n_rounds).rounds for seed in range(seeds)]
    return np.array([rounds["latency_s"].mean() for rounds in played])


def rows(seeds: int) -> Iterator[str]:
    """Lines of the Markdown table."""
    yield "| settings | selector | their round (s) | ours, mean (s) | ours, range (s) |"
    yield "| :-- | :-- | --: | --: | --: |"
    for log in LOGS:
        for selector, run in log.runs.items():
            ours = mean_rounds(log, selector, seeds)
            theirs = f"{run[1] / run[0]:.3f}" if run else "–"
            yield (
                f"| {log.name} | `{selector}` | {theirs} | {ours.mean():.3f} | {ours.min():.3f} to"
                f" {ours.max():.3f} |"
            )


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    for log in LOGS:
        print(f"{log.name}: {log.source or log.scenario}")
    print()
    for row in rows(arguments.seeds):
        print(row, flush=True)


if __name__ == "__main__":
    main()
