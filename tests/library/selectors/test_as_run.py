"""Selection in the scenarios as run has what the authors' logs show of it; nothing is trained."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scenarios import SCENARIOS

from pausefl.federated.untrained import selection_only
from pausefl.settings import load_scenario

#: Most participations of a user in a log after as many rounds.
MOST = {
    ("cifar10_small_iid_r2_as_run", "pause", 300): 59,
    ("cifar10_small_iid_r2_as_run", "sa_pause_best_gain", 300): 51,
    ("cifar10_small_noniid_r1_as_run", "clustered_size", 400): 219,
    ("mnist_large_iid_r1_v1_as_run", "sa_pause_v1", 300): 16,
    ("cifar10_large_noniid_r1_as_run", "sa_pause_best_gain", 432): 22,
}

#: Mean penalty of overlaps in a round of a log, in seconds, and how far ours may be from it.
OVERLAPS = {
    ("cifar10_small_iid_r2_as_run", "pause"): (0.0011, 0.0015),
    ("cifar10_small_iid_r2_as_run", "sa_pause_best_gain"): (0.0033, 0.002),
    ("cifar10_small_iid_r2_as_run", "random"): (0.050, 0.015),
    ("cifar10_small_iid_r2_as_run", "clustered_size"): (0.066, 0.005),
    ("cifar10_small_iid_r2_as_run", "fedavg"): (1.2, 1e-9),
    ("cifar10_large_noniid_r2_as_run", "sa_pause_best_gain"): (0.025, 0.002),
    ("cifar10_large_noniid_r2_as_run", "clustered_size"): (0.0435, 0.004),
}


def played(name: str, selector: str, seed: int, n_rounds: int) -> NDArray[np.int64]:
    """How often each user was selected in each round, (rounds, K)."""
    scenario = load_scenario(name, SCENARIOS)
    rounds = selection_only(scenario, selector, seed).run(n_rounds).rounds
    return np.array([np.bincount(users, minlength=scenario.network.n_users) for users in rounds["selection"]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_rounds"),
    [
        ("mnist_large_iid_r1_as_run", 330),
        ("cifar10_large_noniid_r2_as_run", 412),
    ],
)
def test_the_best_gain_annealer_sweeps_through_300_users(name: str, n_rounds: int) -> None:
    """In each block of 20 rounds all but a few of them take part once, unlike under PAUSE."""
    most = {}
    for selector in ("sa_pause_best_gain", "pause"):
        taken = played(name, selector, 1, n_rounds // 20 * 20)
        others = (taken.reshape(-1, 20, 300).sum(axis=1) != 1).sum(axis=1)
        assert others[0] == 0
        most[selector] = others.max()
    assert most["sa_pause_best_gain"] <= 6
    assert most["pause"] > 30


@pytest.mark.slow
@pytest.mark.parametrize(("name", "selector", "n_rounds"), MOST)
def test_the_most_participations_are_those_of_the_log(name: str, selector: str, n_rounds: int) -> None:
    ours = [played(name, selector, seed, n_rounds).sum(axis=0).max() for seed in range(5)]
    assert min(ours) - 1 <= MOST[name, selector, n_rounds] <= max(ours) + 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "selector"), OVERLAPS)
def test_overlaps_last_as_long_as_in_the_log(name: str, selector: str) -> None:
    """Clusters are indices modulo R."""
    theirs, allowed = OVERLAPS[name, selector]
    reward, seconds = load_scenario(name, SCENARIOS).reward, []
    for seed in range(5):
        taken = played(name, selector, seed, 300)
        once = (taken > 0).reshape(len(taken), -1, reward.n_clusters)
        overlaps = np.maximum(once.sum(axis=1) - 1, 0).sum(axis=1)
        seconds.append(reward.overlap_latency * overlaps.mean())
    assert np.mean(seconds) == pytest.approx(theirs, abs=allowed)
