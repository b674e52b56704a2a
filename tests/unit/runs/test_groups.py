"""Which finished runs are seeds of one thing, and what sets the others apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from worlds import untrained

from pausefl.errors import PauseflError
from pausefl.runs.groups import grouped, named_runs
from pausefl.runs.run import Run
from pausefl.settings import Scenario, load_scenario
from pausefl.settings.changes import with_values

SCENARIOS = Path(__file__).parents[3] / "config/scenarios"


def run(
    name: str, selector: str = "pause", seed: int = 0, values: dict[str, Any] | None = None, rounds: int = 200
) -> Run:
    """A run of a variant of the small demo, or of the large one."""
    scenario: Scenario = load_scenario("demo_large" if "large" in name else "demo_small", SCENARIOS)
    settings = with_values(scenario, values or {}, "test").job_settings()
    summary = {"scenario": settings, "selector": selector, "seed": seed, "n_rounds": rounds}
    return Run(untrained(2), pd.DataFrame(), summary, Path(name))


def labels(*runs: Run) -> list[str]:
    return [group.label.replace("\u00a0", " ") for group in grouped(runs)]


def test_settings_that_differ_are_in_the_name() -> None:
    few = {"network.n_users": 10, "reward.gamma": 1.0}
    assert labels(run("a"), run("b", values=few)) == [
        "PAUSE, n_users = 12, gamma = 5",
        "PAUSE, n_users = 10, gamma = 1",
    ]
    assert labels(run("a"), run("b", rounds=20)) == ["PAUSE, n_rounds = 200", "PAUSE, n_rounds = 20"]


def test_the_same_job_in_two_folders_is_told_apart_by_them() -> None:
    runs = [run(f"{place}/seed-{seed}", seed=seed) for place in ("old", "new") for seed in (0, 1)]
    assert labels(*runs) == ["PAUSE, old", "PAUSE, new"]
    named = named_runs(grouped(runs))
    assert [(name.selector, run.name) for name, run in named.items()] == [
        ("pause 1", "old/seed-0"),
        ("pause 1", "old/seed-1"),
        ("pause 2", "new/seed-0"),
        ("pause 2", "new/seed-1"),
    ]


def test_a_run_that_is_given_twice_is_refused() -> None:
    with pytest.raises(PauseflError, match="a and a are the same run: selector pause, seed 0"):
        grouped([run("a"), run("a")])
