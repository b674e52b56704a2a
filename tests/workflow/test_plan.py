"""What the workflow plans, from the root of the repository's own configuration."""

from __future__ import annotations

from typing import Any

import pytest
from workspace import ROOT, Checkout, counted, make_checkout

from pausefl.settings import Experiment, load_scenario, read_yaml
from pausefl.workflow.project import Project


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the configuration, and published runs, as they are shipped."""
    checkout = make_checkout(tmp_path_factory.mktemp("shipped"))
    (checkout.root / "results").mkdir()
    (checkout.root / "results/published").symlink_to(ROOT / "results/published")
    return checkout


def rows(name: str) -> list[dict[str, Any]]:
    """The experiment table of a shipped configuration; by default a row has its scenario's selectors."""
    table = read_yaml(ROOT / f"config/{name}.yaml")["experiments"]
    folder = ROOT / "config/scenarios"
    return [{"selectors": load_scenario(row["scenario"], folder).selectors} | row for row in table]


def check_rows(planned: dict[str, int], config: str) -> None:
    """The plan makes each row, selector and seed, and what only a study of trained runs asks for."""
    table = rows(config)
    runs = {
        Experiment(row["scenario"], name, seed)
        for row in table
        for name in row["selectors"]
        for seed in row["seeds"]
    }
    project = load_experiments(config)
    studies = project.studies.of_kind("changes")
    studied = {job for study in studies for job in project.runs_of_study(study)}
    assert planned["job"] == len(runs | studied)
    assert planned["tables"] == planned["collect"] == len({row["scenario"] for row in table})


def load_experiments(config: str) -> Project:
    return Project.load(read_yaml(ROOT / f"config/{config}.yaml"), ROOT)


def test_the_default_target_is_the_whole_table_and_its_dry_run_a_page(shipped: Checkout) -> None:
    output = shipped.snakemake("--dry-run", "--cores", "1")
    assert len(output) < 12_500  # 45 scenarios
    planned = counted(output)
    check_rows(planned, "config")
    assert planned["job"] > 1000
    assert planned["report"] == planned["overview"] == 1
    assert planned["download"] == 3
    assert "metrics" not in planned  # which Git keeps


def test_the_demo_is_a_configuration(shipped: Checkout) -> None:
    planned = shipped.planned("--configfile", "config/demo.yaml", "--", "default", "metrics")
    check_rows(planned, "demo")
    assert (planned["job"], planned["claims"], planned["report"], planned["metrics"]) == (16, 1, 1, 1)


def test_published_runs_are_all_that_is_read(shipped: Checkout) -> None:
    """By the shipped configuration, in a checkout with what Git keeps of runs."""
    planned = shipped.planned("--configfile", "config/published.yaml")
    made = {"tables", "figures", "plot_study", "verdict", "claims", "overview", "report"}
    assert set(planned) == made
    project = load_experiments("published")
    assert (planned["tables"], planned["figures"]) == (len(project.own), len(project.figures))
