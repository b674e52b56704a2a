"""The scenarios as run have the settings of the authors' logs, which are listed here once more."""

from __future__ import annotations

from pathlib import Path

import pytest

from pausefl.results.authors_archive import LOGGED
from pausefl.settings import Scenario, load_scenario

SCENARIOS = Path(__file__).parents[3] / "config" / "scenarios"

V1, BEST_GAIN = "sa_pause_v1", "sa_pause_best_gain"

#: By scenario: alpha, beta, gamma, zeta; Delta, eps_bar; annealer, J, kappa; rounds, simulated seconds.
TABLE = {
    "cifar10_small_iid_r1_as_run": ((100, 2, 5, 1), (0.012, 40), (V1, 1000, 70), (300, None)),
    "cifar10_small_iid_r2_as_run": ((100, 2, 5, 1), (0.012, 40), (BEST_GAIN, 100, 1), (300, 600)),
    "cifar10_small_noniid_r1_as_run": ((20, 2, 40, 1), (0.012, 100), (V1, 500, 70), (400, None)),
    "cifar10_small_noniid_r1_as_run_dirichlet": ((20, 2, 40, 1), (0.012, 100), (V1, 500, 70), (400, None)),
    "mnist_large_iid_r1_as_run": ((20, 1, 10, 2), (0.003, 10), (BEST_GAIN, 100, 1), (400, 200)),
    "mnist_large_iid_r1_v1_as_run": ((20, 1, 10, 3), (0.003, 20), (V1, 3000, 70), (300, None)),
    "cifar10_large_noniid_r1_as_run": ((10, 2, 20, 1), (0.004, 10), (BEST_GAIN, 100, 1), (600, 300)),
    "cifar10_large_noniid_r2_as_run": ((10, 2, 20, 1), (0.004, 10), (BEST_GAIN, 100, 1), (600, 300)),
    "cifar10_large_noniid_r1_v1_as_run": ((10, 2, 10, 4), (0.004, 10), (V1, 4000, 70), (500, None)),
    "cifar10_large_noniid_r1_cnn5_as_run": ((10, 2, 40, 2), (0.004, 15), (BEST_GAIN, 100, 1), (800, 400)),
}


@pytest.fixture(params=TABLE)
def as_run(request: pytest.FixtureRequest) -> Scenario:
    return load_scenario(request.param, SCENARIOS)


def test_there_is_one_for_every_log() -> None:
    files = {path.stem for path in SCENARIOS.glob("*_as_run*.yaml")}
    assert files == set(TABLE) == set(LOGGED)


def test_the_settings_are_those_of_the_logs(as_run: Scenario) -> None:
    reward, privacy, selection, training = as_run.reward, as_run.privacy, as_run.selection, as_run.training
    assert privacy is not None
    weights, budget, (annealer, *search), ends = TABLE[as_run.name]
    assert (reward.alpha, reward.beta, reward.gamma, selection.exploitation) == weights
    assert (privacy.sensitivity, privacy.epsilon_total) == budget
    assert annealer in as_run.selectors
    assert [selection.n_iterations, selection.temperature_divisor] == search
    assert (training.n_rounds, training.time_horizon_s) == ends


def test_the_penalties_of_r2_are_those_of_the_logs() -> None:
    """In the objective 0.05 and 0.01 an overlap, which alpha multiplies here."""
    for name, n_clusters, penalty in (
        ("cifar10_small_iid_r2_as_run", 6, 0.05),
        ("cifar10_large_noniid_r2_as_run", 20, 0.01),
    ):
        reward = load_scenario(name, SCENARIOS).reward
        assert (reward.name, reward.clusters, reward.n_clusters) == ("r2", "index", n_clusters)
        assert reward.overlap_penalty is not None
        assert reward.alpha * reward.overlap_penalty == pytest.approx(penalty)
        assert reward.overlap_latency == penalty
    others = [name for name in TABLE if "_r2_" not in name]
    assert {load_scenario(name, SCENARIOS).reward.name for name in others} == {"r1"}
