"""Our selection under the settings of the logs that the PAUSE authors keep of their papers' figures.

The logs are in ``checkpoints/archive`` of https://github.com/oritalp/PAUSE. Selects without training, and
prints the mean simulated rounds of the logs beside ours, and what their settings change:

    python benchmarks/authors_logs.py
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from aggregate_noise import noise
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.registry import SELECTORS
from pausefl.registry.base import lent
from pausefl.results.outcomes import WINDOW
from pausefl.selectors.annealing import SaPause, Users
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario, load_scenario
from pausefl.settings.changes import with_values
from pausefl.studies.simulate import selection_only

SCENARIOS = Path(__file__).parents[1] / "config" / "scenarios"

#: What `BestNeighbour` is called here.
BEST = "best_neighbour"

#: Rounds of a run of ours.
N_ROUNDS = 300

#: What the table of changes shows.
HEADS = (
    "SA-PAUSE's round : PAUSE's",
    "PAUSE's leakage : random's",
    "PAUSE's leakage : clustered's",
    "noise, PAUSE",
    "noise, clustered",
)

#: Whose settings a run has; weights are those of the reward and of the speed index.
OURS, WEIGHTS, THEIRS = WHOSE = ("ours", "α, β, γ, ζ of the log", "of the log")


@dataclass(frozen=True, eq=False)
class Log:
    """Runs of one folder of logs."""

    figures: str
    folder: str
    scenario: str
    #: What their settings have in place of the scenario's, as far as selection or noise depends on it.
    changes: Mapping[str, Any]
    #: Rounds and simulated seconds of each run, by our name of the selector.
    runs: Mapping[str, tuple[int, float]]


#: J and kappa of the later logs.
ANNEALING = {"selection.n_iterations": 100, "selection.temperature_divisor": 1.0}

LOGS = (
    Log(
        "2, 4",
        "Cifar_with_CNN3/30_choose_5/i_i_d_new (commit 52b3f83)",
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
        "6, 7",
        "Cifar_with_CNN3/30_choose_5/non_i_i_d/2025-02-17_13-06-41 (commit 3934374)",
        "cifar10_small_noniid_r1",
        {
            "reward.alpha": 20.0,
            "reward.gamma": 40.0,
            "selection.n_iterations": 500,
            "selection.temperature_divisor": 70.0,
        },
        {"pause": (400, 225.11), "sa_pause_v1": (400, 245.49), "clustered_size": (400, 348.72)},
    ),
    Log(
        "8, 9",
        "MNIST with FC2/300 choose 15/new_i_i_d (commit bc9e1e7)",
        "mnist_large_iid_r1",
        {
            "reward.alpha": 20.0,
            "reward.beta": 1 + 1e-9,  # theirs is 1; a scenario's is larger
            "reward.gamma": 10.0,
            "selection.exploitation": 2.0,
            "partition.sizes": "equal",
            "partition.size_concentration": None,
            **ANNEALING,
        },
        {
            "pause": (360, 200.22),
            BEST: (330, 200.02),
            "random": (222, 200.11),
            "clustered_size": (220, 200.03),
        },
    ),
    Log(
        "10, 12",
        "Cifar_with_CNN3/300_choose_15/new_non_iid (commit bc9e1e7)",
        "cifar10_large_noniid_r1",
        {
            "reward.alpha": 10.0,
            "reward.gamma": 20.0,
            "selection.exploitation": 1.0,
            "privacy.sensitivity": 0.004,
            "partition.size_concentration": 2.0,
            **ANNEALING,
        },
        {"pause": (526, 300.03), BEST: (432, 300.61), "clustered_size": (333, 300.39)},
    ),
    Log(
        "14, 15",
        "Cifar_with_CNN5/300_choose_15/non_iid (commit bc9e1e7)",
        "cifar10_large_noniid_r1_cnn5",
        {
            "reward.alpha": 10.0,
            "reward.gamma": 40.0,
            "selection.exploitation": 2.0,
            "privacy.sensitivity": 0.004,
            "partition.size_concentration": 2.0,
            **ANNEALING,
        },
        {"pause": (716, 400.09), BEST: (589, 400.56), "clustered_size": (441, 400.87)},
    ),
)


class BestNeighbour(SaPause):
    """SA-PAUSE as in the later logs: it draws a neighbour by its gain, so nearly always the best one.

    Their code (commit bc9e1e7) draws with probabilities in proportion to exp(gain / 1e-4), where the gain
    leaves out what the least index rises by. Algorithm 3 (v2) draws uniformly. The first move is always
    accepted there, as its temperature is infinite. For rewards without a penalty (R1).
    """

    softness = 1e-4

    def search(self, objective: Objective, history: History, users: Users, rng: np.random.Generator) -> Users:
        """Best of the selections met."""
        bound, score, m = objective.bound, objective.score, objective.n_selected
        scale = self.largest_gap(objective, history, users) / self.temperature_divisor
        members = rng.permutation(len(bound))[:m]
        energy = objective.value(members)
        best, best_energy = members, energy
        for j in range(self.n_iterations):
            least = int(bound[members].argmin())
            low = bound[members[least]]
            outside = np.ones(len(bound), np.bool_)
            outside[members] = False
            outsiders = np.flatnonzero(outside)
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
        return best


def settings(log: Log, whose: str) -> Scenario:
    """The scenario of a log with settings of `WHOSE`."""
    scenario = load_scenario(log.scenario, SCENARIOS)
    weights = {key for key in log.changes if key.startswith(("reward.", "selection.exploitation"))}
    taken = {OURS: set(), WEIGHTS: weights, THEIRS: set(log.changes)}[whose]
    return with_values(scenario, {key: log.changes[key] for key in taken}, log.folder) if taken else scenario


@cache
def play(log: Log, whose: str, selector: str, seed: int) -> pd.DataFrame:
    """Rounds of a simulation, at least as many as the log has, with the variance of a coordinate's noise."""
    scenario = settings(log, whose)
    n_rounds = max(N_ROUNDS, log.runs[selector][0] if selector in log.runs else 0)
    best = replace(SELECTORS["sa_pause"], code=f"{__name__}:{BestNeighbour.__name__}")
    with lent(SELECTORS, BEST, best):
        rounds = selection_only(scenario, selector, seed).run(n_rounds).rounds
        variance = noise(rounds, scenario, selection_only(scenario, selector, seed))
    return rounds.assign(variance=variance.sum(axis=1))


def mean_rounds(log: Log, selector: str, seeds: int) -> NDArray[np.float64]:
    """Mean simulated seconds (seeds,) of a round of ours, over as many rounds as theirs, or `N_ROUNDS`."""
    n_rounds = log.runs[selector][0] if selector in log.runs else N_ROUNDS
    played = [play(log, THEIRS, selector, seed) for seed in range(seeds)]
    return np.array([rounds["latency_s"].iloc[:n_rounds].mean() for rounds in played])


def beside(seeds: int) -> Iterator[str]:
    """Lines of a table: mean rounds of the logs beside ours under their settings."""
    yield "| figures | selector | their round (s) | ours, mean (s) | ours, range (s) |"
    yield "| :-- | :-- | --: | --: | --: |"
    for log in LOGS:
        for selector in (*log.runs, *(["sa_pause"] if BEST in log.runs else [])):
            ours = mean_rounds(log, selector, seeds)
            n_rounds, seconds = log.runs.get(selector, (1, math.nan))
            theirs = "–" if math.isnan(seconds) else f"{seconds / n_rounds:.3f}"
            yield (
                f"| {log.figures} | `{selector}` | {theirs} | {ours.mean():.3f} | {ours.min():.3f} to"
                f" {ours.max():.3f} |"
            )


def leakage(rounds: pd.DataFrame, end: float) -> float:
    """Mean largest leakage until a simulated time, of which each round has its latency."""
    within = rounds[rounds["elapsed_s"] <= end]
    return float(np.average(within["leakage_max"], weights=within["latency_s"]))


def outcomes(log: Log, whose: str, seeds: int) -> list[str]:
    """What is below each of `HEADS`, of `N_ROUNDS` rounds."""
    annealer = "sa_pause" if whose != THEIRS else BEST if BEST in log.runs else "sa_pause_v1"
    ratios, noises = [], []
    for seed in range(seeds):
        pause, annealed, random, clustered = (
            play(log, whose, selector, seed).iloc[:N_ROUNDS]
            for selector in ("pause", annealer, "random", "clustered_size")
        )
        end = float(pause["elapsed_s"].iloc[-1])
        leaked, *others = (leakage(rounds, end) for rounds in (pause, random, clustered))
        slower = annealed["latency_s"].mean() / pause["latency_s"].mean()
        ratios.append([slower, *(leaked / other for other in others)])
        noises.append([math.sqrt(one["variance"].iloc[-WINDOW:].mean()) for one in (pause, clustered)])
    means = (f"{mean:.2f}" for mean in np.mean(ratios, axis=0))
    ranges = (f"{min(of_seeds):.4f} to {max(of_seeds):.4f}" for of_seeds in zip(*noises, strict=True))
    return [*means, *ranges]


def changes(seeds: int) -> Iterator[str]:
    """Lines of a table: what the settings of the logs change."""
    yield f"| figures | settings | {' | '.join(HEADS)} |"
    yield f"| :-- | :-- |{' --: |' * len(HEADS)}"
    for log in LOGS:
        # With 30 users the weights, and what SA-PAUSE needs, are all that differs.
        for whose in WHOSE if BEST in log.runs else (OURS, THEIRS):
            yield f"| {log.figures} | {whose} | {' | '.join(outcomes(log, whose, seeds))} |"


def main() -> None:
    """Play, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    if seeds < 1:
        parser.error("--seeds must be at least 1")
    for lines in (beside(seeds), [""], changes(seeds)):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
