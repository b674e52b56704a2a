"""Noise in the aggregate of each run of a scenario; it explains where accuracy falls.

A round adds to each protected coordinate of the model the weighted mean of its users' noise. Selections and
budgets are replayed from the runs, and data sizes sampled again, so that no data set is needed:

    python benchmarks/aggregate_noise.py cifar10_small_noniid_r1

Runs of your own are in ``RUNS/SCENARIO/SELECTOR/seed-SEED`` (``--runs RUNS``), trained or not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pausefl.data.partition import sample_sizes
from pausefl.data.sources import training_size
from pausefl.privacy import Ledger, make_mechanism, make_schedule
from pausefl.registry import SELECTORS
from pausefl.results.outcomes import WINDOW, outcomes
from pausefl.results.runs import collect, runs_of
from pausefl.settings import Experiment, RawData, Scenario, load_scenario
from pausefl.streams import Streams

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "results" / "published" / "runs"


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
    """Each run of a scenario that has privacy and reports no losses."""
    scenario = load_scenario(name, ROOT / "config" / "scenarios")
    paths = sorted((folder / name).glob("*/seed-*"))
    rounds = collect({Experiment(name, path.parent.name, int(path.name[5:])): path for path in paths})
    found = outcomes(rounds)
    for selector, seed, run in runs_of(rounds):
        if not np.isfinite(run["leakage_max"]).all() or SELECTORS.find(selector).needs_losses:
            continue
        sizes = data_sizes(scenario, seed)
        variance, participations = noise(run, scenario, sizes)
        share = variance.sum(axis=0) / variance.sum()
        most = int(share.argmax())
        yield Noisy(
            selector,
            seed,
            found[Experiment(name, selector, seed)]["best_accuracy"],
            found[Experiment(name, selector, seed)]["final_accuracy"],
            float(np.sqrt(variance[-WINDOW:].sum(axis=1).mean())),
            most,
            float(share[most]),
            float(sizes[most] / sizes.sum()),
            int(participations[most]),
        )


def data_sizes(scenario: Scenario, seed: int) -> NDArray[np.int64]:
    """How many examples each user (K,) trains on."""
    n = scenario.data.n_train
    if n is None:
        n_all = training_size(scenario.data, RawData(Path(), False, {}))
        assert n_all is not None, f"the size of the training split of {scenario.data.source} is not known"
        n = n_all - scenario.data.n_validation
    return sample_sizes(scenario.partition, scenario.network.n_users, n, Streams(seed))


def noise(
    run: pd.DataFrame, scenario: Scenario, sizes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Variance (rounds, K) that each user's noise adds to a coordinate; participations (K,)."""
    mechanism = make_mechanism(scenario.privacy)
    ledger = Ledger(len(sizes), 0, 0, make_schedule(scenario.privacy), mechanism)
    uniform = SELECTORS.find(run["selector"].iloc[0]).uniform_weights
    variance = np.zeros((len(run), len(sizes)))
    for row, selection in zip(variance, run["selection"], strict=True):
        users, times = np.unique(selection, return_counts=True)
        size = times if uniform else sizes[users]
        scale = np.array([mechanism.scale(epsilon) for epsilon in ledger.spend(users)])
        row[users] = 2 * (size / size.sum() * scale) ** 2  # a Laplace distribution's variance
    return variance, ledger.participations


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--runs", type=Path, default=PUBLISHED)
    arguments = parser.parse_args()
    print(
        "| selector | seed | best accuracy (%) | final (%) | noise of the last rounds | from one user (%)"
        " | its data (%) | its participations |\n| :-- | --: | --: | --: | --: | --: | --: | --: |"
    )
    for run in runs(arguments.scenario, arguments.runs):
        print(
            f"| {run.selector} | {run.seed} | {100 * run.best:.1f} | {100 * run.final:.1f} | {run.noise:.3g}"
            f" | {100 * run.of_noise:.1f} | {100 * run.of_data:.1f} | {run.participations} |"
        )


if __name__ == "__main__":
    main()
