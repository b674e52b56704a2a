"""Annealing with active moves only, beside the papers' walks.

In an active move the user that is lowest by some criterion leaves the selection; in a passive move such a
user enters it. Passive moves make a graph symmetric, but tend to lower the value. A walk without them is
not reversible, and no theorem of the papers covers it. Instances, temperatures and starts are those of the
studies of kind `comparison`.

    python benchmarks/active_moves.py --instances 1000
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pausefl.bandit.history import History
from pausefl.selectors import make_selector
from pausefl.selectors.annealing import Annealer
from pausefl.selectors.exact import pivot_and_fill
from pausefl.selectors.search import Objective
from pausefl.settings import Scenario, load_scenario
from pausefl.streams import Streams
from pausefl.studies.comparison import TIE, instance, interval

Floats = NDArray[np.float64]
Users = NDArray[np.int64]

#: Scenario, exact search that makes the history, the papers' annealer, plain annealing of its objective.
COMPARISONS = [
    ("bsfl_fashion_noniid", "bsfl", "alsa", "sa_bsfl"),
    ("mnist_large_iid_r1", "pause", "sa_pause", "sa_vanilla"),
]


@njit(cache=True)
def _value(bound: Floats, score: Floats, cluster: Users, costs: Floats, members: Users) -> float:
    """Energy of a selection, from nothing: O(m)."""
    counts = np.zeros(cluster.max() + 1, np.int64)
    total = 0.0
    for k in members:
        total += score[k] - costs[counts[cluster[k]]]
        counts[cluster[k]] += 1
    return total + bound[members].min()


@njit(cache=True)
def _walk(
    rank: Users,
    bound: Floats,
    score: Floats,
    cluster: Users,
    costs: Floats,
    members: Users,
    outsiders: Users,
    scale: float,
    n_iterations: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Last and best energy; in each iteration a member may leave that is least in one of ``rank`` (L, n)."""
    energy = _value(bound, score, cluster, costs, members)
    best = energy
    least = np.empty(rank.shape[0], np.int64)
    for j in range(n_iterations):
        n_least = 0
        for i in range(rank.shape[0]):
            place = np.argmin(rank[i][members])
            if place not in least[:n_least]:
                least[n_least] = place
                n_least += 1
        leaving = least[int(rng.random() * n_least)]
        entering = int(rng.random() * outsiders.shape[0])
        members[leaving], outsiders[entering] = outsiders[entering], members[leaving]
        proposed = _value(bound, score, cluster, costs, members)
        gain = proposed - energy
        if gain >= 0 or rng.random() <= math.exp(gain * math.log(2.0 + j) / scale):
            energy = proposed
            best = max(best, energy)
        else:
            members[leaving], outsiders[entering] = outsiders[entering], members[leaving]
    return energy, best


def walk_actively(
    annealer: Annealer, objective: Objective, history: History, users: Users, rng: np.random.Generator
) -> tuple[float, float]:
    """Last and best energy if an annealer proposes active moves alone; ties and start are sampled as ever."""
    shuffled, start = rng.permutation(len(users)), rng.permutation(len(users))
    lists = np.stack(annealer.criteria(objective, history, users))[:, shuffled]
    order = shuffled[np.argsort(lists, axis=1, kind="stable")]
    scale = annealer.largest_gap(objective, history, users) / annealer.temperature_divisor
    m, values = objective.n_selected, (objective.bound, objective.score, objective.cluster, objective.costs)
    return _walk(np.argsort(order, axis=1), *values, start[:m], start[m:], scale, annealer.n_iterations, rng)


def compare(scenario: Scenario, exact: str, thin: str, plain: str, n_instances: int) -> list[str]:
    """Rows of the table: an annealer, the same without passive moves, and plain annealing."""
    annealers = {name: cast(Annealer, make_selector(name, scenario)) for name in (thin, plain)}
    walks = {thin: thin, "active": f"{thin}, active moves alone", plain: plain}
    gaps = {walk: np.empty((n_instances, 2)) for walk in walks}
    energies = np.empty(annealers[thin].n_iterations)
    for seed in range(n_instances):
        history = instance(scenario, exact, seed)
        users = history.candidates()
        objective = Objective.of(history, annealers[thin].reward, annealers[thin].bound(history), users)
        optimum = objective.value(pivot_and_fill(objective, np.random.default_rng(0)))
        for name, annealer in annealers.items():
            rng = Streams(seed).generator(f"select/{name}", round=history.round)
            best = annealer.anneal(objective, history, users, rng, energies=energies)
            gaps[name][seed] = optimum - energies[-1], optimum - objective.value(best)
        rng = Streams(seed).generator(f"select/{thin}", round=history.round)
        gaps["active"][seed] = optimum - np.array(
            walk_actively(annealers[thin], objective, history, users, rng)
        )
    rows = []
    for walk, label in walks.items():
        won = int((gaps[walk][:, 0] < gaps[plain][:, 0] - TIE).sum())
        low, high = (100 * share for share in interval(won, n_instances))
        higher = "" if walk == plain else f"{100 * won / n_instances:.1f} ({low:.1f} to {high:.1f})"
        last, best_gap = gaps[walk].mean(axis=0)
        found = 100 * float((gaps[walk][:, 1] <= TIE).mean())
        cells = (scenario.name, f"{scenario.selection.temperature_divisor:g}", label, higher)
        rows.append(f"| {' | '.join(cells)} | {last:.3g} | {best_gap:.3g} | {found:.1f} |")
    return rows


def main() -> None:
    """Race, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--instances", type=int, default=1000)
    parser.add_argument("--iterations", type=int, default=3000)
    parser.add_argument("--divisors", type=float, nargs="+", default=[1, 30, 1000])
    arguments = parser.parse_args()
    print(
        "| scenario | κ | walk | ends higher than plain annealing (%) | gap of the last | gap of the best"
        " | best is a maximiser (%) |\n| :-- | --: | :-- | --: | --: | --: | --: |"
    )
    for name, exact, thin, plain in COMPARISONS:
        scenario = load_scenario(name, Path("config/scenarios"))
        for divisor in arguments.divisors:
            settings = scenario.selection.replace(
                n_iterations=arguments.iterations, temperature_divisor=divisor
            )
            at = scenario.replace(selection=settings)
            print("\n".join(compare(at, exact, thin, plain, arguments.instances)), flush=True)


if __name__ == "__main__":
    main()
