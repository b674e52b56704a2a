"""Noise in the aggregate of each run of a scenario; it explains where accuracy falls.

A round adds to each protected coordinate of the model the weighted mean of its users' noise. Selections and
budgets are replayed from the runs, and data sizes sampled again, so that no data set is needed:

    python benchmarks/investigations/aggregate_noise.py cifar10_small_noniid_r1

Groups of runs of several scenarios by their noise, and how far their accuracy fell:

    python benchmarks/investigations/aggregate_noise.py --groups cifar10_small_iid_r1 cifar10_small_noniid_r1

Runs of your own are in ``RUNS/SCENARIO/SELECTOR/seed-SEED`` (``--runs RUNS``), trained or not. Nothing
that PAUSE looks at is learned, so its noise is known without training, for any number of draws of the sizes:

    python aggregate_noise.py --simulate 500 cifar10_small_noniid_r1_as_run_dirichlet
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.analysis.outcomes import WINDOW, outcomes
from pausefl.errors import PauseflError
from pausefl.federated.simulation import Simulation
from pausefl.federated.untrained import selection_only
from pausefl.reproduction.studies.selection import run as simulated
from pausefl.runs.collected import runs_in
from pausefl.runs.run import check_settings, rounds_of, runs_of
from pausefl.runs.run_id import RunId
from pausefl.selectors import SELECTORS
from pausefl.settings import Scenario, load_scenario

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "results" / "published"

#: Limits of the groups of runs in tables of noise.
LIMITS = (0, 0.01, 0.02, 0.03, 0.04, 0.1, 0.3, 3, 2000, np.inf)


class Noisy(NamedTuple):
    """Accuracy of a run in [0, 1], and its noise."""

    selector: str
    seed: int
    best: float
    final: float
    #: Standard deviation of a coordinate's noise, root mean square of the rounds of the final accuracy.
    noise: float
    #: The user of the largest share of the variance of all noise; that share; its share of the data.
    user: int
    of_noise: float
    of_data: float
    participations: int


def runs(name: str, folder: Path = PUBLISHED) -> Iterator[Noisy]:
    """Each run of a scenario that has privacy."""
    scenario = load_scenario(name, ROOT / "config" / "scenarios")
    runs = runs_in(folder / name)
    check_settings(runs, scenario.job_settings())
    rounds = rounds_of(runs)
    found = outcomes(rounds)
    for selector, seed, run in runs_of(rounds):
        if not np.isfinite(run["leakage_max"]).all():
            continue
        replayed = selection_only(scenario, selector, seed)
        variance = noise(run, scenario, replayed)
        share = variance.sum(axis=0) / variance.sum()
        most = int(share.argmax())
        sizes, outcome = replayed.history.data_size, found[RunId(name, selector, seed)]
        yield Noisy(
            selector,
            seed,
            outcome["best_accuracy"],
            outcome["final_accuracy"],
            at_the_end(variance),
            most,
            float(share[most]),
            float(sizes[most] / sizes.sum()),
            int(replayed.ledger.participations[most]),
        )


def noise(run: pd.DataFrame, scenario: Scenario, replayed: Simulation) -> NDArray[np.float64]:
    """Variance (rounds, K) of what each user adds to a coordinate; spends the budgets of ``replayed``."""
    mechanism, ledger = scenario.privacy.make_mechanism(), replayed.ledger
    variance = np.zeros((len(run), ledger.n_users))
    for row, selection in zip(variance, run["selection"], strict=True):
        users, times = np.unique(selection, return_counts=True)
        size = times if SELECTORS[replayed.selector].uniform_weights else replayed.history.data_size[users]
        of_update = (1 - ledger.loss_share) * ledger.spend(users)
        scale = np.array([mechanism.scale(epsilon) for epsilon in of_update])
        row[users] = 2 * (size / size.sum() * scale) ** 2  # a Laplace distribution's variance
    return variance


def at_the_end(variance: NDArray[np.float64]) -> float:
    """Standard deviation of a coordinate's noise in the last rounds, by the ``variance`` of `noise`."""
    return float(np.sqrt(variance[-WINDOW:].sum(axis=1).mean()))


def draws(name: str, n_seeds: int) -> pd.DataFrame:
    """PAUSE's ``noise`` in the last rounds under each seed, and the ``largest`` user's share of the data."""
    scenario = load_scenario(name, ROOT / "config" / "scenarios")
    found = []
    for seed in range(n_seeds):
        replayed = selection_only(scenario, "pause", seed)
        variance = noise(simulated(scenario, "pause", seed), scenario, replayed)
        sizes = replayed.history.data_size
        found.append({"noise": at_the_end(variance), "largest": sizes.max() / sizes.sum()})
    return pd.DataFrame(found)


def by_noise(found: pd.DataFrame) -> str:
    """Table of `draws`: how many have how much noise, and the shares of their largest users."""
    lines = [
        f"| noise of the last rounds | draws, of {len(found)} | data of the largest user (%) |",
        "| --: | --: | --: |",
    ]
    for low, high in pairwise(LIMITS):
        largest = 100 * found.loc[found["noise"].between(low, high, inclusive="left"), "largest"]
        if len(largest):
            shares = f"{largest.min():.1f} to {largest.max():.1f}"
            lines.append(f"| {low:g} to {high:g} | {len(largest)} | {shares} |")
    return "\n".join(lines)


def by_group(found: Sequence[Noisy]) -> str:
    """Table of runs by their noise: how far their final accuracy is below their best, in points."""
    lines = [
        "| noise of a round | runs | final accuracy below the run's best (points) |",
        "| --: | --: | --: |",
    ]
    for low, high in pairwise(LIMITS):
        fallen = [100 * (run.best - run.final) for run in found if low <= run.noise < high]
        if fallen:
            lines.append(f"| {low:g} to {high:g} | {len(fallen)} | {min(fallen):.1f} to {max(fallen):.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Print a row for each run, or for each group of runs or of simulated ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    parser.add_argument("--groups", action="store_true", help="count runs by their noise")
    parser.add_argument("--runs", type=Path, default=PUBLISHED)
    parser.add_argument("--simulate", type=int, metavar="SEEDS", help="simulate PAUSE under so many seeds")
    arguments = parser.parse_args()
    try:
        if arguments.simulate is not None:
            if arguments.simulate < 1:
                parser.error(f"--simulate {arguments.simulate}: at least one seed is needed")
            for name in arguments.scenarios:
                print(by_noise(draws(name, arguments.simulate)))
            return
        found = [run for name in arguments.scenarios for run in runs(name, arguments.runs)]
    except PauseflError as error:
        parser.error(str(error))
    if not found:
        parser.error(f"no run of {', '.join(arguments.scenarios)} has privacy")
    if arguments.groups:
        print(by_group(found))
        return
    print(
        "| selector | seed | best accuracy (%) | final (%) | noise of the last rounds | from one user (%)"
        " | its data (%) | its participations |\n| :-- | --: | --: | --: | --: | --: | --: | --: |"
    )
    for run in found:
        print(
            f"| {run.selector} | {run.seed} | {100 * run.best:.1f} | {100 * run.final:.1f} | {run.noise:.3g}"
            f" | {100 * run.of_noise:.1f} | {100 * run.of_data:.1f} | {run.participations} |"
        )


if __name__ == "__main__":
    main()
