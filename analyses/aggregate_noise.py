"""Noise in the aggregate of each run of a scenario; it explains where accuracy falls.

A round adds to each protected coordinate of the model the weighted mean of its users' noise. Selections and
budgets are replayed from the runs, and data sizes sampled again, so that no data set is needed:

    python analyses/aggregate_noise.py cifar10_small_noniid_r1

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

from pausefl.errors import PauseflError
from pausefl.federated.simulation import Simulation
from pausefl.federated.untrained import selection_only
from pausefl.privacy import make_mechanism
from pausefl.results.outcomes import WINDOW, outcomes
from pausefl.results.published import published_in
from pausefl.results.runs import check_settings, read_runs, runs_of
from pausefl.settings import Experiment, Scenario, load_scenario

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "results" / "published"


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
    published = published_in(folder / name)
    if published is not None:
        keys = [*published.lines]
    else:
        keys = [(path.parent.name, int(path.name[5:])) for path in sorted((folder / name).glob("*/seed-*"))]
    if not keys:
        raise PauseflError(f"no runs in {folder / name}")
    rounds, summaries = read_runs(
        {Experiment(name, *key): folder / name / key[0] / f"seed-{key[1]}" for key in keys}
    )
    check_settings(summaries, scenario.job_settings())
    found = outcomes(rounds)
    for selector, seed, run in runs_of(rounds):
        if not np.isfinite(run["leakage_max"]).all():
            continue
        replayed = selection_only(scenario, selector, seed)
        variance = noise(run, scenario, replayed)
        share = variance.sum(axis=0) / variance.sum()
        most = int(share.argmax())
        sizes, outcome = replayed.history.data_size, found[Experiment(name, selector, seed)]
        yield Noisy(
            selector,
            seed,
            outcome["best_accuracy"],
            outcome["final_accuracy"],
            float(np.sqrt(variance[-WINDOW:].sum(axis=1).mean())),
            most,
            float(share[most]),
            float(sizes[most] / sizes.sum()),
            int(replayed.ledger.participations[most]),
        )


def noise(run: pd.DataFrame, scenario: Scenario, replayed: Simulation) -> NDArray[np.float64]:
    """Variance (rounds, K) of what each user adds to a coordinate; spends the budgets of ``replayed``."""
    mechanism, ledger = make_mechanism(scenario.privacy), replayed.ledger
    variance = np.zeros((len(run), ledger.n_users))
    for row, selection in zip(variance, run["selection"], strict=True):
        users, times = np.unique(selection, return_counts=True)
        size = times if replayed.uniform_weights else replayed.history.data_size[users]
        of_update = (1 - ledger.loss_share) * ledger.spend(users)
        scale = np.array([mechanism.scale(epsilon) for epsilon in of_update])
        row[users] = 2 * (size / size.sum() * scale) ** 2  # a Laplace distribution's variance
    return variance


def main() -> None:
    """Print a row for each run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario")
    parser.add_argument("--runs", type=Path, default=PUBLISHED)
    arguments = parser.parse_args()
    try:
        found = list(runs(arguments.scenario, arguments.runs))
    except PauseflError as error:
        parser.error(str(error))
    if not found:
        parser.error(f"no run of {arguments.scenario} has privacy")
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
