"""Figures for a reviewer of privacy agree with the account that runs keep, and with sums by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from pausefl.analysis.figures import kinds, spending
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.errors import PauseflError
from pausefl.federated.job import Job
from pausefl.federated.run_job import run_job
from pausefl.runs.collected import read_run
from pausefl.runs.run import rounds_of, runs_of, split_by_run
from pausefl.settings import load_scenario
from pausefl.settings import scenario as config

ROOT = Path(__file__).parents[3]

THIRDS = config.PrivacySettings(epsilon_total=12, sensitivity=0.01, schedule="uniform", n_participations=3)


@pytest.fixture
def scenario() -> config.Scenario:
    whole = load_scenario("demo_small", ROOT / "config" / "scenarios")
    return whole.replace(network=whole.network.replace(n_users=4, n_selected=2))


def run_of(
    selections: list[list[int]], privacy: config.PrivacySettings, selector: str = "pause", seed: int = 0
) -> pd.DataFrame:
    """Rounds with these selections."""
    counts = np.zeros((len(selections), 4), np.int64)
    for t, users in enumerate(selections):
        counts[t:, np.unique(users)] += 1
    return pd.DataFrame(
        {
            "scenario": "demo_small",
            "selector": selector,
            "seed": seed,
            "round": range(1, len(selections) + 1),
            "selection": selections,
            "leakage_max": privacy.make_schedule().spent(counts).max(axis=1),
        }
    )


def test_account_by_hand() -> None:
    run = run_of([[0, 1], [0, 0], [0, 2]], THIRDS)
    assert spending.spent_in(run, 4, THIRDS).tolist() == [
        [0, 0, 0, 0],
        [4, 4, 0, 0],
        [8, 4, 0, 0],
        [12, 4, 4, 0],
    ]


def test_selections_that_do_not_amount_to_the_leakage_are_an_error() -> None:
    run = run_of([[0, 1], [0, 2]], THIRDS).assign(leakage_max=[4.0, 4.0])
    with pytest.raises(PauseflError, match="do not add up to the budget spent"):
        spending.spent_in(run, 4, THIRDS)


@pytest.mark.parametrize("selector", ["pause", "clustered_size", "fedavg"])
@pytest.mark.parametrize("privacy", [None, THIRDS])
def test_spending_of_real_runs_is_the_leakage_that_they_recorded(
    selector: str,
    privacy: config.PrivacySettings | None,
    demo: config.Scenario,
    digits: Dataset,
    share_out: Callable[..., Partition],
    tmp_path: Path,
) -> None:
    whole = demo if privacy is None else demo.replace(privacy=privacy)
    n_rounds = 25 if privacy is None else 3  # which is all that everyone has a budget for
    job = Job(whole, selector, 3, n_rounds=n_rounds, train=False, device="cpu")
    run_job(job, digits, share_out(whole), tmp_path)
    rounds = rounds_of([read_run(tmp_path)])
    ((_, _, run),) = runs_of(rounds)
    assert whole.privacy is not None
    spent = spending.spent_in(run, whole.network.n_users, whole.privacy)
    np.testing.assert_allclose(spent[1:].max(axis=1), run["leakage_max"], rtol=1e-12)
    np.testing.assert_allclose(spent[1:].mean(axis=1), run["leakage_mean"], rtol=1e-12)
    ledger = pd.read_parquet(tmp_path / "ledger.parquet")
    np.testing.assert_allclose(spent[-1], ledger["epsilon_coordinate"], rtol=1e-12)


def heights(axes: Axes, line: int) -> list[float]:
    return np.asarray(axes.lines[line].get_ydata(), float).tolist()


def test_spending_has_a_panel_a_selector_with_the_first_seed(scenario: config.Scenario) -> None:
    scenario = scenario.replace(privacy=THIRDS)
    rounds = pd.concat(
        [
            run_of([[0, 1], [1, 2]], THIRDS, "random", 1),
            run_of([[0, 1], [0, 2]], THIRDS, "pause", 2),
            run_of([[0, 1], [2, 3]], THIRDS, "pause", 1),
        ]
    )
    figure = kinds.plot("spending_vs_rounds", split_by_run(rounds), scenario).figure
    assert [axes.get_title("left") for axes in figure.axes] == ["PAUSE", "Random"]
    panel = figure.axes[0]
    # Two users each share a line; then the highest, then the budget.
    assert [heights(panel, i) for i in range(4)] == [[0, 0, 4], [0, 4, 4], [0, 4, 4], [12, 12]]


def test_without_budgets_there_is_nothing_to_plot(scenario: config.Scenario) -> None:
    rounds = run_of([[0, 1]], THIRDS).assign(leakage_max=np.inf)
    with pytest.raises(PauseflError, match="no run has a budget to plot"):
        kinds.plot("spending_vs_rounds", split_by_run(rounds), scenario.replace(privacy=THIRDS))
    with pytest.raises(PauseflError, match="no run has a budget to plot"):
        kinds.plot(
            "spending_vs_rounds", split_by_run(run_of([[0, 1]], THIRDS)), scenario.replace(privacy=None)
        )
